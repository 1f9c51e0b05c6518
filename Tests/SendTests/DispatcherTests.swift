import Testing

@testable import PushcryptSend

/// A dispatcher with a clock and the far end in the hands of a test.
final class World {
    var now = Moment(uptime: 1_000_000, wall: 1_800_000_000_000)
    let dispatcher: Dispatcher
    private(set) var sent: [(delivery: Delivery, link: Int)] = []
    private(set) var opened: [Int] = []
    private(set) var closed: [Int] = []
    private var count = 0
    /// What a connection may have open once it is made; nil to leave it dialling.
    var streams: Int? = 100

    init(_ change: (inout Dispatcher.Settings) -> Void = { _ in }) {
        var settings = Dispatcher.Settings()
        settings.policy = RetryPolicy(random: { 0 })
        change(&settings)
        dispatcher = Dispatcher(settings)
    }

    @discardableResult
    func add(token: String = "aa", expiration: UInt64 = 0, retryFor: UInt64 = 3_600_000) -> Delivery {
        count += 1
        let delivery = Delivery(
            number: count, request: PushToSend(deviceToken: token, expiration: expiration), end: now.uptime + retryFor)
        dispatcher.add(delivery, at: now)
        return delivery
    }

    /// Carries out the actions until there are none.
    func settle() {
        while let action = dispatcher.nextAction(at: now) {
            switch action {
            case .connect(let link):
                opened.append(link)
                guard let streams else { continue }
                dispatcher.connected(link)
                dispatcher.allowed(streams, on: link)
            case .send(let delivery, let link): sent.append((delivery, link))
            case .cancel(let delivery, let link):
                sent.removeAll { $0.delivery === delivery }
                dispatcher.failed(delivery, wasRead: true, on: link, at: now)
            case .close(let link): closed.append(link)
            }
        }
    }

    func pass(_ milliseconds: UInt64) {
        now.uptime += milliseconds
        now.wall += milliseconds
        settle()
    }

    /// Answers the oldest request, or that of a delivery.
    func answer(_ answer: APNsAnswer, _ delivery: Delivery? = nil) {
        let index = sent.firstIndex { delivery == nil || $0.delivery === delivery } ?? 0
        let (delivery, link) = sent.remove(at: index)
        dispatcher.answered(delivery, answer, on: link, at: now)
        settle()
    }

    func fail(wasRead: Bool) {
        let (delivery, link) = sent.removeFirst()
        dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
        settle()
    }

    func lose(_ link: Int) {
        for (delivery, _) in sent.filter({ $0.link == link }) {
            dispatcher.failed(delivery, wasRead: true, on: link, at: now)
        }
        sent.removeAll { $0.link == link }
        dispatcher.lost(link, "gone", at: now)
    }

    var outcomes: [Outcome] { dispatcher.answers.map(\.outcome) }
}

private let accepted = APNsAnswer(status: 200)
private let expiredToken = APNsAnswer(status: 403, reason: "ExpiredProviderToken")
private let badToken = APNsAnswer(status: 400, reason: "BadDeviceToken")
private let internalError = APNsAnswer(status: 500, reason: "InternalServerError")

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
        world.pass(1000)
        #expect(world.opened == [1, 2])
        world.pass(2000)
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

    @Test func anUnknownMessageIsGivenUpIfTheUserSaysSo() {
        let world = World { $0.retriesUnknown = false }
        world.add()
        world.settle()
        world.fail(wasRead: true)
        #expect(world.outcomes == [.unknown])
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

    @Test(arguments: [
        APNsAnswer(status: 503, reason: "ServiceUnavailable"),
        APNsAnswer(status: 429, reason: "TooManyProviderTokenUpdates"),
    ])
    func aBusyConnectionPauses(_ answer: APNsAnswer) {
        let world = World()
        world.add(token: "aa")
        world.settle()
        world.answer(answer)
        world.add(token: "bb")
        world.settle()
        #expect(world.sent.isEmpty)
        #expect(world.opened == [1], "another connection would not be gentle")
        world.pass(1000)
        #expect(world.sent.count == 1)
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
        #expect(world.outcomes == [.refused(expiredToken)])
        world.add()
        world.settle()
        world.answer(expiredToken)
        #expect(world.outcomes.count == 2, "the second token is the last for twenty minutes")
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
        (400, "BadTopic"), (403, "InvalidProviderToken"), (404, "BadPath"), (405, "MethodNotAllowed"),
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
        world.pass(1000)
        #expect(world.sent.map(\.link) == [1, 2])
        world.answer(accepted)
        #expect(world.closed == [1])
    }

    @Test func failedConnectionsAreSlowedDown() {
        let world = World()
        world.streams = nil
        world.add(retryFor: 10_000)
        world.settle()
        world.dispatcher.connectionFailed(1, "refused", isLasting: false, at: world.now)
        world.pass(999)
        #expect(world.opened == [1])
        world.pass(1)
        #expect(world.opened == [1, 2])
        world.dispatcher.connectionFailed(2, "refused", isLasting: false, at: world.now)
        world.pass(1999)
        #expect(world.opened == [1, 2])
        world.pass(8000)
        #expect(world.outcomes == [.unreachable("refused")])
    }

    @Test func aPeerThatHangsUpIsSlowedDown() {
        let world = World()
        world.add()
        world.settle()
        world.lose(1)
        world.pass(999)
        #expect(world.opened == [1])
        world.pass(1)
        #expect(world.opened == [1, 2])
    }

    @Test func aLastingFailureOfTheFirstConnectionStops() {
        let world = World()
        world.streams = nil
        world.add()
        world.settle()
        world.dispatcher.connectionFailed(1, "wrong name", isLasting: true, at: world.now)
        #expect(world.dispatcher.stopReason == .noConnection("wrong name"))
        #expect(world.outcomes == [.notSent])
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
        #expect(world.outcomes.dropFirst(4) == [.gaveUp(internalError), .notSent])
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

/// A repeatable source of random numbers (SplitMix64).
struct Repeatable: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Random orders of messages, answers, faults and steps of the clock.
@Suite struct DispatcherOrderTests {
    @Test func everyMessageIsAnsweredExactlyOnce() {
        let runs = 2000
        for seed in 0..<UInt64(runs) { run(seed) }
        print("interleavings: deliveries to APNs: \(runs)")
    }

    private func run(_ seed: UInt64) {
        var random = Repeatable(state: seed)
        let world = World {
            $0.connections = Int.random(in: 1...4, using: &random)
            $0.usesToken = Bool.random(using: &random)
            $0.retriesUnknown = Int.random(in: 0..<4, using: &random) > 0
            $0.rate = Int.random(in: 0..<4, using: &random) == 0 ? 200 : nil
        }
        var added: [Int] = []
        var live: [(delivery: Delivery, link: Int)] = []
        var open: Set<Int> = []
        var dialling: Set<Int> = []
        let dispatcher = world.dispatcher
        func act() {
            var actions = 0
            while let action = dispatcher.nextAction(at: world.now) {
                actions += 1
                guard actions < 10_000 else {
                    Issue.record("seed \(seed): the actions do not end")
                    return
                }
                switch action {
                case .connect(let link): dialling.insert(link)
                case .send(let delivery, let link):
                    #expect(open.contains(link), "seed \(seed)")
                    #expect(!live.contains { $0.delivery === delivery }, "seed \(seed): it is under way")
                    #expect(!delivery.hasEnded(at: world.now), "seed \(seed): its time has ended")
                    live.append((delivery, link))
                case .cancel(let delivery, let link):
                    live.removeAll { $0.delivery === delivery }
                    dispatcher.failed(delivery, wasRead: .random(using: &random), on: link, at: world.now)
                case .close(let link):
                    #expect(!live.contains { $0.link == link }, "seed \(seed): a request is under way")
                    open.remove(link)
                }
            }
        }
        func lose(_ link: Int) {
            for (delivery, _) in live.filter({ $0.link == link }) {
                dispatcher.failed(delivery, wasRead: .random(using: &random), on: link, at: world.now)
            }
            live.removeAll { $0.link == link }
            open.remove(link)
            dispatcher.lost(link, "lost", at: world.now)
        }
        let answers = [
            accepted, accepted, accepted, expiredToken, badToken, internalError, APNsAnswer(status: 503),
            APNsAnswer(status: 429, reason: "TooManyRequests"), APNsAnswer(status: 410, reason: "Unregistered"),
            APNsAnswer(status: 429, reason: "TooManyProviderTokenUpdates", retryAfter: 2000),
        ]
        for _ in 0..<150 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                let seconds = UInt64.random(in: 0...60, using: &random)
                let expiration = Bool.random(using: &random) ? 0 : world.now.wall / 1000 + seconds
                let delivery = world.add(
                    token: "\(Int.random(in: 0..<5, using: &random))", expiration: expiration,
                    retryFor: .random(in: 1...100_000, using: &random))
                added.append(delivery.number)
            case 6..<8:
                guard let link = dialling.randomElement(using: &random) else { break }
                dialling.remove(link)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    dispatcher.connectionFailed(
                        link, "no", isLasting: Int.random(in: 0..<10, using: &random) == 0, at: world.now)
                } else {
                    open.insert(link)
                    dispatcher.connected(link)
                    dispatcher.allowed(.random(in: 0...5, using: &random), on: link)
                }
            case 8..<14:
                guard let index = live.indices.randomElement(using: &random) else { break }
                let (delivery, link) = live.remove(at: index)
                dispatcher.answered(
                    delivery, answers[Int.random(in: 0..<answers.count, using: &random)], on: link, at: world.now)
            case 14:
                guard let index = live.indices.randomElement(using: &random) else { break }
                let (delivery, link) = live.remove(at: index)
                dispatcher.failed(delivery, wasRead: .random(using: &random), on: link, at: world.now)
            case 15: if let link = open.randomElement(using: &random) { dispatcher.goingAway(link) }
            case 16: if let link = open.randomElement(using: &random) { lose(link) }
            case 17:
                if let link = open.randomElement(using: &random) {
                    dispatcher.allowed(.random(in: 0...5, using: &random), on: link)
                }
            default:
                world.now.uptime += .random(in: 0...5000, using: &random)
                // The system's clock may be set.
                world.now.wall = UInt64(Int(world.now.wall) + Int.random(in: -10_000...15_000, using: &random))
            }
            act()
        }
        if Bool.random(using: &random) { dispatcher.stop() }
        // The far end is dead from now on: everything ends alone.
        for link in dialling { dispatcher.connectionFailed(link, "no", isLasting: false, at: world.now) }
        dialling = []
        var rounds = 0
        while dispatcher.unanswered > 0, rounds < 2000 {
            rounds += 1
            for link in dialling { dispatcher.connectionFailed(link, "no", isLasting: false, at: world.now) }
            dialling = []
            guard let wake = dispatcher.wakeTime(at: world.now) else {
                Issue.record("seed \(seed): it sleeps for good")
                return
            }
            let pause = max(1, wake - min(wake, world.now.uptime))
            world.now.uptime += pause
            world.now.wall += pause
            act()
        }
        #expect(dispatcher.unanswered == 0, "seed \(seed)")
        #expect(dispatcher.answers.map(\.delivery.number).sorted() == added, "seed \(seed)")
    }
}
