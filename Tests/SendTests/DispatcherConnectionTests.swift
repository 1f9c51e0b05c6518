import PushcryptCommand
import Testing

@testable import PushcryptSend
@testable import Simulated

// Connections: made, used and given up.

extension DispatcherTests {
    @Test func oneStreamUntilTheFirstAnswerProvesTheToken() {
        let world = World()
        for _ in 0..<50 { world.add() }
        world.settle()
        #expect(world.sent.count == 1)
        world.answer(accepted)
        #expect(world.sent.count == 49)
        #expect(world.opened == [1])
    }

    @Test func aRefusedTokenProvesNothing() {
        let world = World()
        for _ in 0..<5 { world.add() }
        world.settle()
        world.answer(PushAnswer(status: 403, reason: "InvalidProviderToken"))
        #expect(world.sent.count == 1)
    }

    @Test func aCertificateNeedsNoProof() {
        let world = World(usesToken: false)
        for _ in 0..<50 { world.add() }
        world.settle()
        #expect(world.sent.count == 50)
    }

    @Test func anotherConnectionOnlyIfTheStreamsAreUsedUp() {
        let world = World { $0.connections = 3 }
        world.streams = 10
        for _ in 0..<10 { world.add() }
        world.settle()
        world.answer(accepted)
        #expect(world.opened == [1])
        world.send()
        #expect(world.opened == [1], "a stream became free")
        for _ in 0..<100 { world.add() }
        world.settle()
        #expect(world.opened == [1, 2], "the second is not proven yet")
        world.answer(accepted, world.sent.last?.request.messages.first)
        #expect(world.opened == [1, 2, 3])
        world.answer(accepted, world.sent.last?.request.messages.first)
        #expect(world.sent.count == 30)
        #expect(world.opened == [1, 2, 3])
    }

    @Test(arguments: [true, false])
    func nothingIsSentBeforeTheSettings(_ usesToken: Bool) {
        let world = World(usesToken: usesToken)
        world.streams = nil
        world.send()
        world.dispatcher.connected(1)
        world.settle()
        #expect(world.sent.isEmpty)
        #expect(world.opened == [1])
        world.dispatcher.allowed(1, on: 1)
        world.settle()
        #expect(world.sent.count == 1)
    }

    @Test func anUnreadRequestGoesOutAtOnceOnANewConnection() {
        let world = World()
        let delivery = world.send()
        world.dispatcher.goingAway(1)
        world.fail(wasRead: false)
        world.pass(250)
        #expect(world.sent.map(\.link) == [2])
        #expect(world.closed == [1])
        world.answer(accepted)
        #expect(delivery.attempts == 1)
        #expect(world.outcomes == [.accepted(accepted)])
    }

    @Test func nothingNewGoesIntoAConnectionThatEnds() {
        let world = World()
        world.send()
        world.answer(accepted)
        world.send()
        world.dispatcher.goingAway(1)
        world.send()
        #expect(world.sent.map(\.link) == [1, 2])
        world.answer(accepted)
        #expect(world.closed == [1])
    }

    @Test func aConnectionThatAllowsNothingIsReplaced() throws {
        let world = World()
        world.streams = 0
        world.send()
        world.pass(250)
        world.pass(29_999)
        #expect(world.closed.isEmpty)
        world.streams = 1
        world.pass(250)
        #expect(world.closed == [1])
        try #require(world.opened == [1, 2] && world.sent.count == 1)
        world.answer(accepted)
        // Its time begins when the streams are gone.
        world.dispatcher.allowed(0, on: 2)
        world.add()
        world.pass(250)
        #expect(world.sent.map(\.link) == [3])
        world.answer(accepted)
        world.pass(29_999)
        #expect(world.closed == [1])
        world.pass(250)
        #expect(world.closed == [1, 2])
    }

    /// Otherwise a server that is overloaded would get connections as fast as it ends them.
    @Test func connectionsThatEndBeforeAnyAnswerAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.send()
        for (link, pause) in [(1, UInt64(250)), (2, 4000), (3, 14_000), (4, 14_000)] {
            world.dispatcher.connected(link)
            world.lose(link)
            world.settle()
            world.pass(pause - 1)
            #expect(world.opened.count == link)
            world.pass(1)
            #expect(world.opened.count == link + 1)
        }
    }

    @Test func connectionsThatAreNotMadeAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.send(retryFor: 30_000)
        for (link, pause) in [(1, UInt64(4000)), (2, 4000), (3, 14_000)] {
            world.dispatcher.lost(link, "refused", at: world.now)
            world.pass(pause - 1)
            #expect(world.opened.count == link)
            world.pass(1)
            #expect(world.opened.count == link + 1)
        }
        world.pass(10_000)
        #expect(world.outcomes == [.unreachable("no connection to APNs: refused")])
    }

    /// Connections that break together count as one failure.
    @Test func connectionsThatBreakTogetherAreOneFailure() {
        let world = World(usesToken: false) { $0.connections = 8 }
        world.streams = 1
        for _ in 0..<8 { world.add() }
        world.settle()
        #expect(world.opened.count == 8)
        world.pass(100)
        for link in 1...8 { world.lose(link) }
        world.pass(1000)
        #expect(world.opened.count > 8)
    }

    /// It is a fault of the login, and told as one.
    @Test func aConnectionThatKnowsAnotherTokenIsLeft() {
        let updates = PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates")
        let world = World()
        world.send(retryFor: 60_000)
        for _ in 0..<20 { world.answer(updates) }
        #expect(world.sent.isEmpty && world.dispatcher.troubles.map(\.kind) == [.login])
        world.pass(1000)
        #expect(world.sent.count == 1, "one message shows whether it is over")
        world.answer(updates)
        world.pass(60_000)
        #expect(world.outcomes == [.refused(updates)])
        #expect(world.outcomes.first.flatMap(SendFailure.init)?.code == .loginRefused)
    }

    /// Others go on meanwhile, and a late answer counts.
    @Test func aLateAnswerCounts() {
        let world = World()
        world.send()
        world.answer(accepted)
        let late = world.send()
        world.pass(10_250)
        world.send()
        #expect(world.sent.map(\.link) == [1, 2], "a connection that is silent gets no more")
        world.answer(accepted, late)
        #expect(world.outcomes == [.accepted(accepted), .accepted(accepted)])
    }

    @Test func oneThatIsSlowerThanALaterOneIsNotLost() {
        let world = World(usesToken: false) { $0.connections = 2 }
        world.streams = 1
        let slow = world.send()
        world.pass(1000)
        let quick = world.send()
        world.answer(accepted, quick)
        world.pass(1000)
        #expect(world.numbers == [slow.number] && world.closed.isEmpty)
    }

    /// One that was sent before something that has been answered elsewhere is lost.
    @Test func aSilentRequestEndsAndItsConnectionToo() {
        let world = World()
        world.send()
        world.answer(accepted)
        let lost = world.send()
        world.pass(10_250)
        let other = world.send()
        world.answer(accepted, other)
        world.pass(250)
        #expect(world.closed == [1] && world.sent.isEmpty)
        world.pass(1000)
        #expect(world.numbers == [lost.number] && world.sent.map(\.link) == [2])
    }

    @Test func aRequestWithoutAnyAnswerEndsAfterThreeTimesTheTimeout() {
        let world = World { $0.timeout = 1000 }
        world.send()
        world.pass(2990)
        #expect(world.closed.isEmpty)
        world.pass(260)
        #expect(world.closed == [1])
    }

    /// Bytes that HTTP/2's windows hold back wait in this process: what they cost is a timeout.
    @Test func aConnectionThatIsNotWrittenGetsNoMore() {
        let world = World(usesToken: false) { $0.connections = 1 }
        world.send()
        world.dispatcher.writes(false, on: 1)
        world.send()
        #expect(world.sent.count == 1)
        world.dispatcher.writes(true, on: 1)
        world.settle()
        #expect(world.sent.count == 2)
    }
}
