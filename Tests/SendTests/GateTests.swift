import PushcryptCommand
import Testing

@testable import PushcryptSend
@testable import Simulated

/// When refusals close the way for a topic or the login, because the set-up is wrong and not the messages.
@Suite struct GateTests {
    private func troubles(_ world: World) -> [Trouble.Kind] { world.dispatcher.troubles.map(\.kind) }

    @Test func refusalsOfManyTokensHoldTheirTopic() {
        let world = World { $0.connections = 1 }
        world.streams = 10
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<19 { world.answer(badToken) }
        #expect(troubles(world) == [])
        world.answer(badToken)
        #expect(troubles(world) == [.topic])
        #expect(world.sent.count == 9, "they were under way")
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.outcomes == Array(repeating: .refused(badToken), count: 29), "the others wait")
        #expect(world.dispatcher.deferred.count == 31)
        world.pass(12_000)
        #expect(world.numbers == [60], "the newest one: the oldest may all be bad")
        world.answer(accepted)
        #expect(troubles(world) == [] && world.sent.count == 10)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes.count == 60)
    }

    @Test func oneDeviceTokenHoldsNothing() {
        let world = World()
        for _ in 0..<100 { world.add(token: "same") }
        world.settle()
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.outcomes.count == 100 && troubles(world) == [])
    }

    @Test func aTopicThatWorkedOnceStaysOpen() {
        let world = World { $0.connections = 1 }
        world.streams = 1
        world.send()
        world.answer(accepted)
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.outcomes.count == 61)
    }

    @Test func anotherTopicGoesOn() {
        let world = World { $0.connections = 1 }
        world.streams = 1
        for index in 0..<40 { world.add(token: "\(index)", topic: "bad") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        world.send(topic: "good")
        world.answer(accepted)
        #expect(world.outcomes.last == .accepted(accepted) && troubles(world) == [.topic])
        #expect(world.dispatcher.troubles.first?.subject == "bad")
    }

    @Test func aLoginThatIsRefusedHoldsAll() {
        let world = World(usesToken: false) { $0.connections = 1 }
        for index in 0..<60 { world.add(token: "\(index)", retryFor: 100_000) }
        world.settle()
        for _ in 0..<60 { world.answer(wrongKey) }
        #expect(troubles(world) == [.login] && world.sent.isEmpty)
        world.pass(1000)
        #expect(world.sent.count == 1)
        world.answer(badToken)
        #expect(troubles(world) == [], "a refusal of a token proves the login")
        while !world.sent.isEmpty { world.answer(accepted) }
        world.pass(10_000)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes.count == 60)
    }

    @Test func whatWaitedToItsEndSaysWhy() {
        let world = World(usesToken: false) { $0.connections = 1 }
        for index in 0..<30 { world.add(token: "\(index)", retryFor: 30_000) }
        world.settle()
        for _ in 0..<30 { world.answer(wrongKey) }
        world.send(retryFor: 30_000)
        world.pass(30_250)
        let codes = world.outcomes.compactMap { SendFailure($0)?.code }
        #expect(codes.count == 31 - world.sent.count)
        #expect(codes.allSatisfy { $0 == .loginRefused || $0 == .onHold })
    }

    /// A message that may have rung is not answered with a no.
    @Test func aRefusedLoginDoesNotSayThatAFirstCopyDidNotArrive() {
        let world = World()
        world.send(retryFor: 30_000)
        world.fail(wasRead: true)
        world.pass(1000)
        for _ in 0..<5 {
            if !world.sent.isEmpty { world.answer(wrongKey) }
            world.pass(5000)
        }
        world.pass(30_000)
        #expect(world.outcomes == [.unknown(wrongKey)])
    }

    @Test func pausesGrowAndRepeat() {
        var gate = Gate(enough: 1, subjects: 1)
        var now = Moment(uptime: 0, wall: 0)
        gate.bad(busy, "a", now)
        for pause: UInt64 in [1000, 2000, 4000, 4500, 4500] {
            now.uptime += pause - 1
            #expect(!gate.allows(now))
            now.uptime += 1
            #expect(gate.allows(now))
            gate.tries(now)
        }
        let wasClosed = gate.good()
        #expect(wasClosed && gate.allows(now))
    }
}
