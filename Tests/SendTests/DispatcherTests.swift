import PushcryptCommand
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
        world.add()
        world.settle()
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
        let world = World(usesToken: usesToken)
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
        world.pass(250)
        #expect(world.sent.map(\.link) == [2])
        #expect(world.closed == [1])
        world.answer(accepted)
        #expect(delivery.attempts == 1)
        #expect(world.outcomes == [.accepted(accepted)])
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

    @Test func retryAfterIsHonoured() {
        let world = World()
        world.add()
        world.settle()
        world.answer(PushAnswer(status: 500, retryAfter: 30_000))
        world.pass(29_999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
    }

    @Test func aBusyDeviceSlowsItsMessagesOnly() {
        let world = World()
        world.add(token: "aa")
        world.settle()
        world.answer(PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: 10_000))
        world.add(token: "aa")
        let other = world.add(token: "bb")
        world.settle()
        #expect(world.numbers == [other.number])
        world.pass(10_000)
        #expect(world.sent.count == 3)
    }

    @Test(arguments: [PushAnswer(status: 503, retryAfter: 60_000), internalError])
    func aBusyAnswerDelaysItsMessageOnly(_ answer: PushAnswer) {
        let world = World()
        world.add(token: "aa")
        world.settle()
        world.answer(answer)
        let other = world.add(token: "bb")
        world.settle()
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
        world.add()
        world.settle()
        world.answer(PushAnswer(status: status, reason: reason))
        world.pass(1_000_000)
        #expect(world.outcomes == [.refused(PushAnswer(status: status, reason: reason))])
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
        internalError, PushAnswer(status: 503), PushAnswer(status: 429, reason: "TooManyRequests"),
    ])
    func whatMayHaveArrivedRemainsUnknown(_ answer: PushAnswer) {
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
        let busy = PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: 600_000)
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

    @Test func aRunThatIsAskedToEndWaitsForOneTimeout() {
        let world = World()
        world.add()
        world.settle()
        world.dispatcher.stop()
        world.pass(29_900)
        #expect(world.outcomes.isEmpty)
        world.pass(350)
        #expect(world.outcomes == [.unknown(nil)])
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

    /// Otherwise a server that is overloaded would get connections as fast as it ends them.
    @Test func connectionsThatEndBeforeAnyAnswerAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.add()
        world.settle()
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
        world.add(retryFor: 30_000)
        world.settle()
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

    /// What breaks at once is one failure, and not as many as there are connections.
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

    @Test func aRequestThatIsNeverReadIsSlowedDown() {
        let world = World()
        world.add()
        world.settle()
        for _ in 0..<4 { world.fail(wasRead: false) }
        #expect(world.sent.isEmpty)
        world.pass(1000)
        #expect(world.sent.count == 1)
    }

    /// It is a fault of the login, and told as one.
    @Test func aConnectionThatKnowsAnotherTokenIsLeft() {
        let updates = PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates")
        let world = World()
        world.add(retryFor: 60_000)
        world.settle()
        for _ in 0..<20 { world.answer(updates) }
        #expect(world.sent.isEmpty && world.dispatcher.troubles.map(\.kind) == [.login])
        world.pass(1000)
        #expect(world.sent.count == 1, "one message shows whether it is over")
        world.answer(updates)
        world.pass(60_000)
        #expect(world.outcomes == [.refused(updates)])
        #expect(world.outcomes.first.flatMap(SendFailure.init)?.code == .loginRefused)
    }

    @Test func anExpiredTokenIsReplacedOnce() {
        let world = World()
        world.add()
        world.settle()
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

    /// Others go on meanwhile, and a late answer counts.
    @Test func aLateAnswerCounts() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        let late = world.add()
        world.settle()
        world.pass(10_250)
        world.add()
        world.settle()
        #expect(world.sent.map(\.link) == [1, 2], "a connection that is silent gets no more")
        world.answer(accepted, late)
        #expect(world.outcomes == [.accepted(accepted), .accepted(accepted)])
    }

    @Test func oneThatIsSlowerThanALaterOneIsNotLost() {
        let world = World(usesToken: false) { $0.connections = 2 }
        world.streams = 1
        let slow = world.add()
        world.settle()
        world.pass(1000)
        let quick = world.add()
        world.settle()
        world.answer(accepted, quick)
        world.pass(1000)
        #expect(world.numbers == [slow.number] && world.closed.isEmpty)
    }

    /// One that was sent before something that has been answered elsewhere is lost.
    @Test func aSilentRequestEndsAndItsConnectionToo() {
        let world = World()
        world.add()
        world.settle()
        world.answer(accepted)
        let lost = world.add()
        world.settle()
        world.pass(10_250)
        let other = world.add()
        world.settle()
        world.answer(accepted, other)
        world.pass(250)
        #expect(world.closed == [1] && world.sent.isEmpty)
        world.pass(1000)
        #expect(world.numbers == [lost.number] && world.sent.map(\.link) == [2])
    }

    @Test func aRequestWithoutAnyAnswerEndsAfterThreeTimesTheTimeout() {
        let world = World { $0.timeout = 1000 }
        world.add()
        world.settle()
        world.pass(2990)
        #expect(world.closed.isEmpty)
        world.pass(260)
        #expect(world.closed == [1])
    }

    /// Bytes that HTTP/2's windows hold back wait in this process: what they cost is a timeout.
    @Test func aConnectionThatIsNotWrittenGetsNoMore() {
        let world = World(usesToken: false) { $0.connections = 1 }
        world.add()
        world.settle()
        world.dispatcher.writes(false, on: 1)
        world.add()
        world.settle()
        #expect(world.sent.count == 1)
        world.dispatcher.writes(true, on: 1)
        world.settle()
        #expect(world.sent.count == 2)
    }

    /// What may have arrived is repeated once a second at most, unless something is decided.
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
        world.add()
        world.settle()
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
        world.add(topic: "good")
        world.settle()
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
        world.add(retryFor: 30_000)
        world.settle()
        world.pass(30_250)
        let codes = world.outcomes.compactMap { SendFailure($0)?.code }
        #expect(codes.count == 31 - world.sent.count)
        #expect(codes.allSatisfy { $0 == .loginRefused || $0 == .onHold })
    }

    /// What may have rung is not answered with a no.
    @Test func aRefusedLoginDoesNotSayThatAFirstCopyDidNotArrive() {
        let world = World()
        world.add(retryFor: 30_000)
        world.settle()
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

@Suite struct WindowTests {
    @Test func aLossHalvesItOnce() {
        var window = Window()
        let now = Moment(uptime: 1000, wall: 0)
        #expect(window.allows(99) && !window.allows(100) && window.share(of: 4) == .max)
        window.lost(sentAt: 10, 100, now)
        #expect(window.allows(49) && !window.allows(50) && window.share(of: 4) == 12)
        window.lost(sentAt: 1000, 50, now)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(49), "nothing was decided since: it is one outage")
        window.good(sentAt: 900, 50)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(49), "what was decided since was sent before")
        window.good(sentAt: 1001, 50)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(24) && !window.allows(25))
    }

    @Test func itGrowsWhileFewerThanHalfAreBusy() {
        var window = Window()
        for _ in 0..<100 {
            for _ in 0..<5 { window.good(sentAt: 0, 1 << 20) }
            for _ in 0..<5 { window.busy() }
        }
        #expect(window.allows(150))
        for _ in 0..<1000 { window.busy() }
        #expect(window.allows(3) && !window.allows(4))
    }
}
