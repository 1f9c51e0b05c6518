import Testing

@testable import PushcryptSend

/// When refusals stop the run or let a topic rest, because the set-up is wrong and not the messages.
@Suite struct CircuitBreakerTests {
    @Test func aRunOfTheSameRefusalStops() {
        let world = World { $0.connections = 1 }
        world.streams = 10
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<19 { world.answer(badToken) }
        #expect(world.dispatcher.stopReason == nil)
        world.answer(badToken)
        #expect(world.dispatcher.stopReason == .refusals(badToken))
        #expect(world.sent.count == 9)
        #expect(world.outcomes.filter { $0 == .notSent }.count == 31)
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.outcomes.count == 60)
    }

    @Test func oneAcceptedMessageShowsThatTheSetupIsRight() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        world.answer(accepted)
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.dispatcher.stopReason == nil)
        #expect(world.outcomes.count == 60)
    }

    @Test func onlyDifferentDeviceTokensAreEvidence() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index % 19)") }
        world.settle()
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.dispatcher.stopReason == nil)
    }

    @Test func aDeviceThatHasUnregisteredShowsThatTheSetupIsRight() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        world.answer(APNsAnswer(status: 410, reason: "Unregistered"))
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.dispatcher.stopReason == nil)
    }

    @Test func aWrongKeyStopsWhateverTheDevice() {
        let world = World()
        let wrongKey = APNsAnswer(status: 403, reason: "InvalidProviderToken")
        for index in 0..<60 { world.add(topic: "\(index)") }
        world.settle()
        for _ in 0..<20 { world.answer(wrongKey) }
        #expect(world.dispatcher.stopReason == .refusals(wrongKey))
    }

    @Test func aKeyThatIsRevokedStops() {
        let world = World { $0.connections = 1 }
        world.streams = 10
        let revoked = APNsAnswer(status: 403, reason: "InvalidProviderToken")
        for index in 0..<100 { world.add(topic: "\(index % 2)") }
        world.settle()
        for _ in 0..<10 { world.answer(accepted) }
        for _ in 0..<19 { world.answer(revoked) }
        world.answer(accepted)
        for _ in 0..<19 { world.answer(revoked) }
        #expect(world.dispatcher.stopReason == nil, "one of them was accepted")
        world.answer(revoked)
        #expect(world.dispatcher.stopReason == .refusals(revoked))
        #expect(world.outcomes.filter { $0 == .notSent }.count == 41)
    }

    /// Two environments, of which the first has accepted a message.
    private func environments() -> (production: World, sandbox: World) {
        let breaker = CircuitBreaker()
        let production = World(breaker: breaker, environment: "production")
        production.add()
        production.settle()
        production.answer(accepted)
        return (production, World(breaker: breaker, environment: "sandbox"))
    }

    @Test func anEnvironmentThatRefusesTheLoginRestsWhileAnotherAcceptsIt() {
        let (production, sandbox) = environments()
        let refused = APNsAnswer(status: 403, reason: "BadEnvironmentKeyIdInToken")
        for index in 0..<30 { sandbox.add(topic: "\(index)") }
        sandbox.settle()
        for _ in 0..<20 { sandbox.answer(refused) }
        #expect(sandbox.dispatcher.stopReason == nil)
        #expect(sandbox.dispatcher.rested.map(\.topic) == [nil])
        #expect(sandbox.outcomes.dropFirst(20) == ArraySlice(repeating: .held(refused), count: 10))
        production.add()
        production.settle()
        #expect(production.sent.count == 1)
    }

    /// A copy of it may have arrived.
    @Test func whatHadNoAnswerIsNotRefused() {
        let sandbox = environments().sandbox
        let refused = APNsAnswer(status: 403, reason: "InvalidProviderToken")
        for index in 0..<21 { sandbox.add(topic: "\(index)") }
        sandbox.settle()
        sandbox.fail(wasRead: true)
        for _ in 0..<20 { sandbox.answer(refused) }
        #expect(sandbox.dispatcher.rested.map(\.topic) == [nil])
        sandbox.pass(60_000)
        #expect(sandbox.outcomes == Array(repeating: .refused(refused), count: 20) + [.unknown(refused)])
    }

    @Test func aLoginRefusedAfterNoAnswerSaysNothingOfTheFirstCopy() {
        let world = World()
        world.add()
        world.settle()
        world.fail(wasRead: true)
        world.pass(60_000)
        let refused = APNsAnswer(status: 403, reason: "InvalidProviderToken")
        world.answer(refused)
        #expect(world.outcomes == [.unknown(refused)])
    }

    @Test func whatHasNoTurnIsNotTried() {
        let world = World()
        world.streams = 0
        world.add(retryFor: 2000)
        world.settle()
        world.pass(2000)
        #expect(world.outcomes == [.notTried])
        world.add()
        world.dispatcher.stop()
        #expect(world.outcomes == [.notTried, .notSent])
    }

    @Test func aTopicRestsWhileOthersAreAccepted() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        for index in 0..<100 { world.add(token: "\(index)", topic: "new") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        #expect(world.dispatcher.stopReason == nil)
        #expect(world.dispatcher.rested.map(\.topic) == ["new"])
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.dispatcher.rested.count == 1, "the others were under way")
        world.add(topic: "new")
        world.add()
        world.settle()
        #expect(world.outcomes.last == .held(badToken))
        #expect(world.sent.map(\.delivery.request.topic) == ["app"])
        world.answer(accepted)
        world.pass(CircuitBreaker.suspension)
        world.add(topic: "new")
        world.settle()
        world.answer(accepted)
        #expect(world.outcomes.last == .accepted(accepted))
    }
}
