import Testing

@testable import PushcryptSend

/// When refusals pause a topic or the login, because the set-up is wrong and not the messages, and when the pause is over.
@Suite struct CircuitBreakerTests {
    private let wrongKey = APNsAnswer(status: 403, reason: "InvalidProviderToken")

    private func pauses(_ world: World) -> [Trouble.Kind] { world.dispatcher.troubles.map(\.kind) }

    @Test func aRunOfTheSameRefusalPausesItsTopic() {
        let world = World { $0.connections = 1 }
        world.streams = 10
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<19 { world.answer(badToken) }
        #expect(pauses(world) == [])
        world.answer(badToken)
        #expect(pauses(world) == [.topic])
        #expect(world.sent.count == 9, "they were under way")
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(world.outcomes == Array(repeating: .refused(badToken), count: 29), "the others wait")
        #expect(world.dispatcher.deferred.count == 31)
    }

    @Test func oneMessageInAWhileShowsThatThePauseIsOver() {
        let world = World { $0.connections = 1 }
        world.streams = 1
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        world.pass(CircuitBreaker.interval - 1)
        #expect(world.sent.isEmpty)
        world.pass(1)
        #expect(world.sent.map(\.delivery.number) == [60], "the newest one: the oldest may all be bad")
        world.pass(CircuitBreaker.interval)
        #expect(world.sent.count == 1, "one at a time")
        world.answer(badToken)
        world.pass(CircuitBreaker.interval)
        #expect(world.sent.map(\.delivery.number) == [21])
        world.answer(accepted)
        #expect(pauses(world) == [] && world.sent.count == 1)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes.count == 60)
    }

    @Test func aLostAttemptIsFollowedByAnother() {
        let world = World()
        for index in 0..<25 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        while !world.sent.isEmpty { world.fail(wasRead: false) }
        world.pass(CircuitBreaker.interval)
        #expect(world.sent.count == 1)
        world.fail(wasRead: false)
        #expect(world.sent.isEmpty)
        world.pass(CircuitBreaker.interval)
        #expect(world.sent.count == 1)
        world.pass(CircuitBreaker.interval)
        #expect(world.sent.count == 1, "one at a time, however many would fit")
    }

    @Test func oneAcceptedMessageShowsThatTheSetupIsRight() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        world.answer(accepted)
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(pauses(world) == [])
        #expect(world.outcomes.count == 60)
    }

    @Test func onlyDifferentDeviceTokensAreEvidence() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index % 19)") }
        world.settle()
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(pauses(world) == [])
    }

    @Test func aDeviceThatHasUnregisteredShowsThatTheSetupIsRight() {
        let world = World()
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        world.answer(APNsAnswer(status: 410, reason: "Unregistered"))
        while !world.sent.isEmpty { world.answer(badToken) }
        #expect(pauses(world) == [])
    }

    @Test func aWrongKeyPausesTheLoginWhateverTheDevice() {
        let world = World()
        for index in 0..<60 { world.add(topic: "\(index)") }
        world.settle()
        for _ in 0..<20 { world.answer(wrongKey) }
        #expect(pauses(world) == [.login])
        #expect(world.outcomes.isEmpty, "the messages are not to blame")
        world.pass(3_600_000)
        #expect(world.outcomes.filter { $0 == .refused(wrongKey) }.count >= 20)
        #expect(world.outcomes.contains(.held(wrongKey)))
        #expect(world.outcomes.count + world.sent.count == 60)
    }

    @Test func aKeyThatIsRevokedPausesTheLogin() {
        let world = World { $0.connections = 1 }
        world.streams = 10
        for index in 0..<100 { world.add(topic: "\(index % 2)") }
        world.settle()
        for _ in 0..<10 { world.answer(accepted) }
        for _ in 0..<19 { world.answer(wrongKey) }
        world.answer(accepted)
        for _ in 0..<19 { world.answer(wrongKey) }
        #expect(pauses(world) == [], "one of them was accepted")
        world.answer(wrongKey)
        #expect(pauses(world) == [.login])
        while !world.sent.isEmpty { world.answer(wrongKey) }
        world.pass(CircuitBreaker.interval)
        world.answer(accepted)
        world.pass(2_000)
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes == Array(repeating: .accepted(accepted), count: 100))
    }

    @Test func aLoginRefusedAfterNoAnswerSaysNothingOfTheFirstCopy() {
        let world = World()
        world.add(retryFor: 70_000)
        world.settle()
        world.fail(wasRead: true)
        world.pass(60_000)
        world.answer(wrongKey)
        world.pass(10_000)
        #expect(world.outcomes == [.unknown(wrongKey)])
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

    @Test func aTopicIsPausedWhileOthersAreAccepted() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        for index in 0..<100 { world.add(token: "\(index)", topic: "new") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        #expect(world.dispatcher.troubles.map(\.subject) == ["new"])
        while !world.sent.isEmpty { world.answer(badToken) }
        world.add(topic: "new", retryFor: 5000)
        world.add()
        world.settle()
        #expect(world.sent.map(\.delivery.request.topic) == ["app"])
        world.answer(accepted)
        world.pass(5000)
        #expect(world.outcomes.last == .held(badToken))
    }

    @Test func aStopAnswersWhatIsHeld() {
        let world = World()
        for index in 0..<30 { world.add(token: "\(index)") }
        world.settle()
        for _ in 0..<20 { world.answer(badToken) }
        while !world.sent.isEmpty { world.fail(wasRead: false) }
        world.dispatcher.stop()
        #expect(world.outcomes.filter { $0 == .notSent }.count == 10)
    }
}
