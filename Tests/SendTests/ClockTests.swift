import Testing

@testable import PushcryptSend
@testable import Simulated

/// A wrong clock answers no message as too late, and stops none: the server's time counts.
@Suite struct ClockTests {
    private static func answer(_ status: Int, _ reason: String? = nil, at time: UInt64) -> PushAnswer {
        var answer = PushAnswer(status: status, reason: reason)
        answer.time = time
        return answer
    }

    @Test func aMessageIsTooLateOnlyByAClockThatAPNsConfirms() {
        let world = World()
        let wall = world.now.wall
        world.send(expiration: wall / 1000 - 86_400)
        #expect(world.outcomes.isEmpty)
        #expect(world.numbers == [0], "a question for the time")
        world.answer(Self.answer(400, "BadDeviceToken", at: wall))
        world.pass(300)
        #expect(world.outcomes == [.expired(nil)])
    }

    @Test func aServerThatSaysNoTimeIsNoReasonToWait() {
        let world = World()
        world.send(expiration: world.now.wall / 1000 - 1)
        world.answer(badToken)
        world.pass(300)
        #expect(world.outcomes == [.expired(nil)])
    }

    @Test func messagesGoOutByTheServersTime() {
        let world = World()
        let ahead: UInt64 = 40 * 86_400_000
        let right = world.now.wall
        world.now.wall += ahead
        for _ in 0..<3 { world.add(expiration: right / 1000 + 3600) }
        world.send(expiration: right / 1000 - 1)
        #expect(world.numbers == [0], "a question for the time")
        world.answer(Self.answer(400, "BadDeviceToken", at: right))
        #expect(world.dispatcher.troubles.map(\.kind) == [.clock], "it is said")
        #expect(world.dispatcher.clock.time(world.now) == right)
        world.pass(300)
        while !world.sent.isEmpty { world.answer(Self.answer(200, at: world.now.wall - ahead)) }
        #expect(world.outcomes.count == 4 && world.outcomes.count { $0 == .expired(nil) } == 1)
        world.add()
        world.now.wall -= ahead
        world.pass(1)
        world.answer(Self.answer(200, at: world.now.wall))
        #expect(world.dispatcher.troubles.isEmpty)
    }

    /// Phones refuse what is too old or from the future.
    @Test(arguments: [(3_600_000, false), (-3_600_000, false), (3_601_000, true), (-3_601_000, true)])
    func whatWasSealedByAWrongClockIsToBeSealedAgain(ahead: Int64, isSealedAgain: Bool) throws {
        let world = World()
        world.send()
        world.answer(Self.answer(200, at: UInt64(Int64(world.now.wall) - ahead)))
        #expect(try #require(world.dispatcher.troubles.first).text.contains("seal again") == isSealedAgain)
    }

    @Test(arguments: [(300_000, true), (-300_000, true), (300_001, false), (-300_001, false)])
    func fiveMinutesAreNoFault(ahead: Int64, isRight: Bool) {
        let world = World()
        world.send()
        world.answer(Self.answer(200, at: UInt64(Int64(world.now.wall) - ahead)))
        #expect(world.dispatcher.troubles.map(\.kind) == (isRight ? [] : [.clock]))
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000), ("Sun, 06 Nov 2147483647 08:49:37 GMT", nil), ("soon", nil),
        ("", nil),
    ])
    func aTimeThatNoClockShowsIsNone(date: String, time: UInt64?) {
        var reader = ServerTime()
        let read = unsafe ContiguousArray(date.utf8).withUnsafeBufferPointer { unsafe reader.milliseconds($0) }
        #expect(read == time)
    }

    @Test(arguments: [
        (1_800_000_000, true), (0, false), (-1, false), (253_402_300_800, false), (Int64.max, false),
    ])
    func aKeptTokenHasATime(time: Int64, isOne: Bool) {
        let text = #"{"key_id":"ABC123DEFG","team":"TEAM123456","issued_at":\#(time),"token":"x"}"#
        let kept = ProviderToken.kept(ContiguousArray(text.utf8), keyID: "ABC123DEFG", team: "TEAM123456")
        #expect(kept?.milliseconds == (isOne ? UInt64(time) * 1000 : nil))
        #expect(ProviderToken.kept(ContiguousArray(text.utf8), keyID: "OTHER12345", team: "TEAM123456") == nil)
    }

    @Test func aClockThatIsSetIsNotTrusted() {
        let world = World()
        world.send()
        world.answer(Self.answer(200, at: world.now.wall))
        world.add(expiration: world.now.wall / 1000 + 3600)
        world.now.wall += 86_400_000
        world.settle()
        #expect(world.outcomes.count == 1 && world.numbers == [0])
    }

    /// The provider token had the time of the wrong clock: another one is made, once.
    @Test func aLoginThatTheClockSpoiledIsTriedAgain() {
        let world = World()
        for _ in 0..<30 { world.add() }
        world.settle()
        world.answer(Self.answer(403, "InvalidProviderToken", at: world.now.wall + 7_200_000))
        #expect(world.sent.map(\.request.token) == [2])
        #expect(world.dispatcher.troubles.map(\.kind) == [.clock])
        while !world.sent.isEmpty { world.answer(Self.answer(200, at: world.now.wall + 7_200_000)) }
        #expect(world.outcomes.count == 30 && world.dispatcher.tokens?.generation == 2)
    }

    @Test func anAcceptedMessageProvesTheLogin() {
        let world = World()
        for _ in 0..<30 { world.add() }
        world.settle()
        while !world.sent.isEmpty { world.answer(Self.answer(200, at: world.now.wall - 310_000)) }
        #expect(world.outcomes.count == 30 && world.dispatcher.tokens?.generation == 1)
    }

    /// Wherever it was stopped: while it waited, or in between.
    @Test func noTimePassesWhileTheProcessIsStopped() {
        var time = RunningTime(1000)
        func pass(to uptime: UInt64, meaningToWait wait: UInt64) -> UInt64 {
            time.pass(to: uptime, meaningToWait: wait)
            return time.now
        }
        #expect(pass(to: 1001, meaningToWait: 0) == 1001)
        #expect(pass(to: 31_000, meaningToWait: 30_000) == 31_000)
        #expect(pass(to: 36_000, meaningToWait: 0) == 36_000)
        #expect(pass(to: 3_636_000, meaningToWait: 0) == 36_000)
        #expect(pass(to: 7_236_500, meaningToWait: 500) == 36_500)
        #expect(pass(to: 7_236_600, meaningToWait: 30_000) == 36_600)
    }
}
