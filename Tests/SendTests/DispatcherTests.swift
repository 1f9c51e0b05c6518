import Testing

@testable import PushcryptSend

@Suite struct DispatcherTests {
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
        world.answer(APNsAnswer(status: 403, reason: "InvalidProviderToken"))
        #expect(world.sent.count == 1)
    }

    @Test func aCertificateNeedsNoProof() {
        let world = World { $0.usesToken = false }
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
        world.add()
        world.settle()
        #expect(world.opened == [1], "a stream became free")
        for _ in 0..<100 { world.add() }
        world.settle()
        #expect(world.opened == [1, 2], "the second is not proven yet")
        world.answer(accepted, world.sent.last?.delivery)
        #expect(world.opened == [1, 2, 3])
        world.answer(accepted, world.sent.last?.delivery)
        #expect(world.sent.count == 30)
        #expect(world.opened == [1, 2, 3])
    }

    @Test func messagesThatWaitForTheRateNeedNoConnection() {
        let world = World { $0.rate = 1 }
        world.add()
        world.settle()
        world.answer(accepted)
        for _ in 0..<10 { world.add() }
        world.settle()
        #expect(world.sent.isEmpty)
        #expect(world.opened == [1])
    }

    @Test(arguments: [true, false])
    func nothingIsSentBeforeTheSettings(_ usesToken: Bool) {
        let world = World { $0.usesToken = usesToken }
        world.streams = nil
        world.add()
        world.settle()
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
        let delivery = world.add()
        world.settle()
        world.dispatcher.goingAway(1)
        world.fail(wasRead: false)
        #expect(world.sent.map(\.link) == [2])
        #expect(world.closed == [1])
        world.answer(accepted)
        #expect(delivery.attempts == 1)
        #expect(world.outcomes == [.accepted(accepted)])
    }

    /// Otherwise a server that is overloaded would get connections as fast as it ends them.
    @Test func connectionsThatEndBeforeAnyAnswerAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.add()
        world.settle()
        for link in 1...2 {
            world.dispatcher.connected(link)
            world.dispatcher.goingAway(link)
            world.settle()
        }
        #expect(world.opened == [1, 2] && world.closed == [1, 2])
        world.pass(RouteHealth.reconnection - 1)
        #expect(world.opened == [1, 2])
        world.pass(1)
        #expect(world.opened == [1, 2, 3])
    }

    @Test func aPauseThatAPNsAsksForHasALimit() {
        #expect(RetryPolicy(random: { 0 }).pause(after: 1, atLeast: 86_400_000) == RetryPolicy.longest)
    }

    @Test func aRequestThatIsNeverReadIsSlowedDown() {
        let world = World()
        world.add()
        world.settle()
        for _ in 0..<4 { world.fail(wasRead: false) }
        #expect(world.sent.isEmpty)
        world.pass(1000)
        #expect(world.sent.count == 1)
    }

    @Test func nothingNewGoesIntoAConnectionThatEnds() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        world.add()
        world.settle()
        world.dispatcher.goingAway(1)
        world.add()
        world.settle()
        #expect(world.sent.map(\.link) == [1, 2])
        world.answer(accepted)
        #expect(world.closed == [1])
    }

    @Test func anUnknownMessageIsTriedAgain() {
        let world = World()
        world.add()
        world.settle()
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

    @Test func pausesDoubleUpToFifteenMinutes() {
        let policy = RetryPolicy(random: { 0 })
        #expect((1...12).map { policy.pause(after: $0) / 1000 } == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
        let half = RetryPolicy(random: { 1 })
        #expect(half.pause(after: 3) == 2000)
        #expect(half.pause(after: 1, atLeast: 60_000) == 60_000)
    }

    @Test func retryAfterIsHonoured() {
        let world = World()
        world.add()
        world.settle()
        world.answer(APNsAnswer(status: 500, retryAfter: 30_000))
        world.pass(29_999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
    }

    @Test func aBusyDeviceSlowsItsMessagesOnly() {
        let world = World()
        world.add(token: "aa")
        world.settle()
        world.answer(APNsAnswer(status: 429, reason: "TooManyRequests", retryAfter: 10_000))
        world.add(token: "aa")
        let other = world.add(token: "bb")
        world.settle()
        #expect(world.sent.map(\.delivery.number) == [other.number])
        world.pass(10_000)
        #expect(world.sent.count == 3)
    }

    @Test(arguments: [APNsAnswer(status: 503, retryAfter: 60_000), internalError])
    func aBusyAnswerDelaysItsMessageOnly(_ answer: APNsAnswer) {
        let world = World()
        world.add(token: "aa")
        world.settle()
        world.answer(answer)
        let other = world.add(token: "bb")
        world.settle()
        #expect(world.sent.map(\.delivery.number) == [other.number])
        #expect(world.opened == [1])
    }

    @Test func aConnectionThatKnowsAnotherTokenIsReplaced() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        world.add()
        world.settle()
        world.answer(APNsAnswer(status: 429, reason: "TooManyProviderTokenUpdates"))
        #expect(world.opened == [1, 2] && world.closed == [1])
        #expect(world.sent.map(\.link) == [2])
    }

    @Test func anExpiredTokenIsReplacedOnce() {
        let world = World()
        let delivery = world.add()
        world.settle()
        #expect(delivery.tokenGeneration == 1)
        world.answer(expiredToken)
        #expect(delivery.tokenGeneration == 2)
        #expect(world.sent.count == 1)
        world.answer(expiredToken)
        #expect(world.sent.isEmpty && world.outcomes.isEmpty, "the second token is the last for twenty minutes")
        world.pass(2000)
        #expect(delivery.tokenGeneration == 2)
        world.answer(accepted)
        #expect(world.outcomes == [.accepted(accepted)])
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
        world.add()
        world.settle()
        world.answer(APNsAnswer(status: status, reason: reason))
        world.pass(1_000_000)
        #expect(world.outcomes == [.refused(APNsAnswer(status: status, reason: reason))])
        #expect(world.sent.isEmpty)
    }

    @Test func nothingIsSentAfterItsExpiration() {
        let world = World()
        let end = world.now.wall / 1000 + 10
        world.add(expiration: end)
        world.settle()
        world.answer(internalError)
        world.now.wall += 10_000
        world.pass(1000)
        #expect(world.outcomes == [.expired(.answer(internalError))])
        world.add(expiration: end)
        world.settle()
        #expect(world.outcomes.last == .expired(nil))
        #expect(world.sent.isEmpty)
    }

    @Test func aMessageIsGivenUpIfItsTimeForRetriesEnds() {
        let world = World()
        world.add(retryFor: 1500)
        world.settle()
        world.answer(internalError)
        world.pass(1000)
        world.answer(internalError)
        #expect(world.outcomes == [.gaveUp(internalError)], "the next attempt would be too late")
    }

    @Test func aSilentRequestEndsAndItsConnectionToo() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        world.add()
        world.settle()
        world.pass(20_000)
        let late = world.add()
        world.settle()
        world.pass(10_000)
        #expect(world.sent.map(\.delivery.number) == [late.number], "the other has its own time")
        #expect(world.sent.map(\.link) == [2] && world.closed == [1])
    }

    @Test func failedConnectionsAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.add(retryFor: 10_000)
        world.settle()
        world.dispatcher.connectionFailed(1, "refused", at: world.now)
        world.pass(999)
        #expect(world.opened == [1])
        world.pass(1)
        #expect(world.opened == [1, 2])
        world.dispatcher.connectionFailed(2, "refused", at: world.now)
        world.pass(9000)
        #expect(world.opened == [1, 2])
        #expect(world.outcomes == [.unreachable("refused")])
    }

    @Test func afterALongOutageAConnectionIsTriedSoon() {
        let world = World()
        world.streams = nil
        world.add()
        world.settle()
        for link in 1...12 {
            #expect(world.opened.count == link)
            world.dispatcher.connectionFailed(link, "refused", at: world.now)
            world.pass(30_000)
        }
    }

    @Test func aConnectionThatAllowsNothingIsReplaced() throws {
        let world = World()
        world.streams = 0
        world.add()
        world.settle()
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

    @Test(arguments: [
        internalError, APNsAnswer(status: 503), APNsAnswer(status: 429, reason: "TooManyRequests"),
    ])
    func whatMayHaveArrivedRemainsUnknown(_ answer: APNsAnswer) {
        let world = World()
        let delivery = world.add()
        world.settle()
        world.fail(wasRead: true)
        world.pass(1000)
        world.answer(answer, delivery)
        world.dispatcher.stop()
        #expect(world.outcomes == [.unknown(nil)])
    }

    @Test func aDelayedMessageIsAnsweredAtItsExpiration() {
        let world = World()
        let busy = APNsAnswer(status: 429, reason: "TooManyRequests", retryAfter: 600_000)
        world.add(expiration: world.now.wall / 1000 + 2)
        world.settle()
        world.answer(busy)
        #expect(world.dispatcher.wakeTime(at: world.now).map { $0 <= world.now.uptime + 2000 } == true)
        world.pass(2000)
        #expect(world.outcomes == [.expired(.answer(busy))])
    }

    @Test func aClockThatIsSetBackShortensNoPause() {
        let world = World()
        world.add(expiration: world.now.wall / 1000 + 10)
        world.settle()
        world.answer(APNsAnswer(status: 500, retryAfter: 30_000))
        world.now.wall -= 60_000
        world.pass(29_999)
        #expect(world.sent.isEmpty && world.outcomes.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
    }

    @Test func aPeerThatHangsUpIsSlowedDown() {
        let world = World()
        world.add()
        world.settle()
        world.lose(1)
        world.pass(1000)
        #expect(world.opened == [1, 2])
        world.lose(2)
        world.pass(RouteHealth.reconnection - 1)
        #expect(world.opened == [1, 2])
        world.pass(1)
        #expect(world.opened == [1, 2, 3])
    }

    @Test func aStopAnswersWhatIsNotUnderWay() {
        let world = World { $0.connections = 1 }
        world.streams = 2
        world.add()
        world.settle()
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

    @Test func theRateIsKept() {
        let world = World { $0.rate = 100 }
        world.streams = 1000
        world.add()
        world.settle()
        world.answer(accepted)
        for _ in 0..<500 { world.add() }
        var most = 0
        for _ in 0..<100 {
            let before = world.sent.count
            world.pass(10)
            most = max(most, world.sent.count - before)
        }
        #expect((95...111).contains(world.sent.count))
        #expect(most <= 10)
    }
}
