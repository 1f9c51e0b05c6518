import Testing

@testable import PushcryptSend

/// A wrong clock answers no message as too late, and the pause ends with it.
@Suite struct ClockTests {
    private static func answer(_ status: Int, _ reason: String? = nil, at time: UInt64) -> APNsAnswer {
        var answer = APNsAnswer(status: status, reason: reason)
        answer.time = time
        return answer
    }

    @Test func aMessageIsTooLateOnlyByAClockThatAPNsConfirms() {
        let world = World()
        let wall = world.now.wall
        world.add(expiration: wall / 1000 - 86_400)
        world.settle()
        #expect(world.outcomes.isEmpty)
        #expect(world.sent.map(\.delivery.number) == [0], "a question for the time")
        world.answer(Self.answer(400, "BadDeviceToken", at: wall))
        world.pass(300)
        #expect(world.outcomes == [.expired(nil)])
    }

    @Test func aServerThatSaysNoTimeIsNoReasonToWait() {
        let world = World()
        world.add(expiration: world.now.wall / 1000 - 1)
        world.settle()
        world.answer(badToken)
        world.pass(300)
        #expect(world.outcomes == [.expired(nil)])
    }

    @Test func nothingIsSentUntilTheClockIsRight() {
        let world = World()
        let ahead: UInt64 = 40 * 86_400_000
        let right = world.now.wall
        world.now.wall += ahead
        for _ in 0..<3 { world.add(expiration: right / 1000 + 3600) }
        world.settle()
        world.answer(Self.answer(400, "BadDeviceToken", at: right))
        #expect(world.dispatcher.troubles.map(\.kind) == [.clock])
        world.pass(ClockGuard.interval - 1)
        #expect(world.sent.isEmpty && world.outcomes.isEmpty)
        world.now.wall -= ahead
        world.pass(1)
        world.answer(Self.answer(400, "BadDeviceToken", at: world.now.wall))
        world.pass(300)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes == Array(repeating: .accepted(accepted), count: 3))
        #expect(world.dispatcher.troubles.isEmpty)
        #expect(world.dispatcher.tokens.generation == 2, "the first token has the time of the wrong clock")
    }

    @Test func aClockThatIsSetIsNotTrusted() {
        let world = World()
        world.add()
        world.settle()
        world.answer(Self.answer(200, at: world.now.wall))
        world.add(expiration: world.now.wall / 1000 + 3600)
        world.now.wall += 86_400_000
        world.settle()
        #expect(world.outcomes.count == 1 && world.sent.map(\.delivery.number) == [0])
    }

    @Test func aRefusedLoginIsTheClocksFault() {
        let world = World()
        for _ in 0..<30 { world.add() }
        world.settle()
        world.answer(Self.answer(403, "ExpiredProviderToken", at: world.now.wall + 7_200_000))
        #expect(world.dispatcher.troubles.map(\.kind) == [.clock])
        #expect(world.outcomes.isEmpty && world.sent.map(\.delivery.number) == [])
        world.pass(3_600_000)
        #expect(world.outcomes.contains(.clockWrong(-7_200_000)))
    }
}
