import Testing

@testable import PushcryptSend
@testable import Simulated

@Suite struct DispatcherTests {
    @Test func anUnknownMessageIsTriedAgain() {
        let world = World()
        world.send()
        world.fail(wasRead: true)
        #expect(world.sent.isEmpty)
        world.pass(999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        world.answer(accepted)
        #expect(world.outcomes == [.accepted(accepted)])
    }

    /// A phone cannot know that it has seen it.
    @Test func whatIsNotEncryptedIsNotSentAgainIfItMayHaveArrived() {
        let world = World()
        world.add().mayRepeat = false
        world.settle()
        world.fail(wasRead: false)
        #expect(world.sent.count == 1)
        world.fail(wasRead: true)
        #expect(world.outcomes == [.unrepeated])
    }

    @Test func retryAfterIsHonoured() {
        let world = World()
        world.send()
        world.answer(PushAnswer(status: 500, retryAfter: 30_000))
        world.pass(29_999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
    }

    @Test func aBusyDeviceSlowsItsMessagesOnly() {
        let world = World()
        world.send(token: "aa")
        world.answer(PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: 10_000))
        world.add(token: "aa")
        let other = world.send(token: "bb")
        #expect(world.numbers == [other.number])
        world.pass(10_000)
        #expect(world.sent.count == 3)
    }

    @Test(arguments: [PushAnswer(status: 503, retryAfter: 60_000), internalError])
    func aBusyAnswerDelaysItsMessageOnly(_ answer: PushAnswer) {
        let world = World()
        world.send(token: "aa")
        world.answer(answer)
        let other = world.send(token: "bb")
        #expect(world.numbers == [other.number])
        #expect(world.opened == [1])
    }

    @Test func aTokenLivesForFortyMinutes() {
        let tokens = TokenSchedule()
        var now = Moment(uptime: 5, wall: 0)
        #expect(tokens.current(at: now) == 1)
        now.uptime += TokenSchedule.renewal - 1
        #expect(tokens.current(at: now) == 1)
        now.uptime += 1
        #expect(tokens.current(at: now) == 2)
        #expect(tokens.hasExpired(1, at: now))
        #expect(tokens.generation == 2, "its successor exists already")
        #expect(tokens.hasExpired(2, at: now))
        #expect(tokens.generation == 3)
        now.uptime += TokenSchedule.rest - 1
        #expect(!tokens.hasExpired(3, at: now))
        now.uptime += 1
        #expect(tokens.hasExpired(3, at: now))
    }

    @Test(arguments: [
        (400, "BadTopic"), (404, "BadPath"), (405, "MethodNotAllowed"),
        (410, "Unregistered"), (413, "PayloadTooLarge"), (418, "Teapot"),
    ])
    func someAnswersAreFinal(_ status: Int, _ reason: String) {
        let world = World()
        world.send()
        world.answer(PushAnswer(status: status, reason: reason))
        world.pass(1_000_000)
        #expect(world.outcomes == [.refused(PushAnswer(status: status, reason: reason))])
        #expect(world.sent.isEmpty)
    }

    @Test func nothingIsSentAfterItsExpiration() {
        let world = World()
        let end = world.now.wall / 1000 + 10
        world.send(expiration: end)
        world.answer(internalError)
        world.now.wall += 10_000
        world.pass(1000)
        #expect(world.outcomes == [.expired(.answer(internalError))])
        world.send(expiration: end)
        #expect(world.outcomes.last == .expired(nil))
        #expect(world.sent.isEmpty)
    }

    @Test func aMessageIsGivenUpIfItsTimeForRetriesEnds() {
        let world = World()
        world.send(retryFor: 1500)
        world.answer(internalError)
        world.pass(1000)
        world.answer(internalError)
        #expect(world.outcomes == [.gaveUp(internalError)], "the next attempt would be too late")
    }

    @Test(arguments: [
        internalError, PushAnswer(status: 503), PushAnswer(status: 429, reason: "TooManyRequests"),
    ])
    func whatMayHaveArrivedRemainsUnknown(_ answer: PushAnswer) {
        let world = World()
        let delivery = world.send()
        world.fail(wasRead: true)
        world.pass(1000)
        world.answer(answer, delivery)
        world.dispatcher.stop()
        #expect(world.outcomes == [.unknown(nil)])
    }

    @Test func aDelayedMessageIsAnsweredAtItsExpiration() {
        let world = World()
        let busy = PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: 600_000)
        world.send(expiration: world.now.wall / 1000 + 2)
        world.answer(busy)
        #expect(world.dispatcher.wakeTime(at: world.now).map { $0 <= world.now.uptime + 2000 } == true)
        world.pass(2000)
        #expect(world.outcomes == [.expired(.answer(busy))])
    }

    @Test func aClockThatIsSetBackShortensNoPause() {
        let world = World()
        world.send(expiration: world.now.wall / 1000 + 10)
        world.answer(PushAnswer(status: 500, retryAfter: 30_000))
        world.now.wall -= 60_000
        world.pass(29_999)
        #expect(world.sent.isEmpty && world.outcomes.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
    }

    @Test func aStopAnswersWhatIsNotUnderWay() {
        let world = World { $0.connections = 1 }
        world.streams = 2
        world.send()
        world.answer(accepted)
        for _ in 0..<5 { world.add() }
        world.settle()
        world.dispatcher.stop()
        world.settle()
        #expect(world.outcomes.dropFirst() == [.notSent, .notSent, .notSent])
        world.answer(internalError)
        world.fail(wasRead: false)
        #expect(world.outcomes.dropFirst(4) == [.stopped(internalError), .notSent])
        #expect(world.dispatcher.unanswered == 0)
    }

    @Test func aRunThatIsAskedToEndWaitsForOneTimeout() {
        let world = World()
        world.send()
        world.dispatcher.stop()
        world.pass(29_900)
        #expect(world.outcomes.isEmpty)
        world.pass(350)
        #expect(world.outcomes == [.unknown(nil)])
    }

    @Test func aRequestThatIsNeverReadIsSlowedDown() {
        let world = World()
        world.send()
        for _ in 0..<4 { world.fail(wasRead: false) }
        #expect(world.sent.isEmpty)
        world.pass(1000)
        #expect(world.sent.count == 1)
    }

    @Test func anExpiredTokenIsReplacedOnce() {
        let world = World()
        world.send()
        #expect(world.sent.first?.request.token == 1)
        world.answer(expiredToken)
        #expect(world.sent.first?.request.token == 2)
        world.answer(expiredToken)
        #expect(world.sent.isEmpty && world.outcomes.isEmpty, "the second token is the last for twenty minutes")
        world.pass(2000)
        #expect(world.sent.first?.request.token == 2)
        world.answer(accepted)
        #expect(world.outcomes == [.accepted(accepted)])
    }

    /// Messages that may have arrived are repeated once a second at most, unless an answer decides something.
    @Test func repeatsHaveABudget() {
        let world = World(usesToken: false)
        for index in 0..<60 { world.add(token: "\(index)") }
        world.settle()
        while !world.sent.isEmpty { world.fail(wasRead: true) }
        world.pass(1000)
        #expect((10...12).contains(world.sent.count), "\(world.sent.count)")
        let first = world.sent.count
        world.pass(1000)
        #expect((1...2).contains(world.sent.count - first))
        while !world.sent.isEmpty { world.answer(accepted) }
        #expect(world.outcomes.count == 60)
    }
}
