import Pushcrypt
import PushcryptCommand
import Seed
import Testing

@testable import PushcryptSend

/// A relay's dispatcher with a clock and the relay in the hands of a test.
private final class RelayWorld {
    var now = Moment(uptime: 1_000_000, wall: 1_800_000_000_000)
    let dispatcher: RelayDispatcher
    private(set) var sent: [RelayDispatcher.Batch] = []
    private var count = 0

    init() {
        var settings = RelayDispatcher.Settings()
        settings.policy = RetryPolicy(random: { 0 })
        dispatcher = RelayDispatcher(settings)
    }

    @discardableResult
    func add(_ bytes: Int = 100, expiration: UInt64 = 0, retryFor: UInt64 = 3_600_000) -> Delivery {
        count += 1
        var push = PushToSend(deviceToken: "grant", payload: .init(repeating: 0x20, count: bytes))
        push.expiration = expiration
        let delivery = Delivery(number: count, request: push, end: now.uptime + retryFor)
        dispatcher.add(delivery)
        return delivery
    }

    func settle(isWhole: Bool = true) {
        while let batch = dispatcher.nextBatch(isWhole: isWhole, at: now) { sent.append(batch) }
    }

    /// Says what came of the oldest request.
    func answer(_ response: RelayResponse) {
        guard !sent.isEmpty else {
            Issue.record("there is no request")
            return
        }
        dispatcher.ended(sent.removeFirst(), response, at: now)
        settle()
    }

    func answerAll(_ answer: RelayAnswer) {
        self.answer(.answers((sent.first?.messages ?? []).map { _ in answer }))
    }

    func pass(_ milliseconds: UInt64) {
        now.uptime += milliseconds
        now.wall += milliseconds
        settle()
    }

    var outcomes: [Outcome] {
        defer { dispatcher.answers = [] }
        return dispatcher.answers.map(\.outcome)
    }
}

private let ok = RelayAnswer.apns(APNsAnswer(status: 200, apnsID: "id"))

private func relays(_ status: Int, _ code: String, retryAfter: UInt64? = nil) -> APNsAnswer {
    APNsAnswer(status: status, reason: code, retryAfter: retryAfter).ofRelay
}

@Suite struct RelayDispatcherTests {
    @Test func aRequestIsFullOrTheInputIsIdle() {
        let world = RelayWorld()
        for _ in 0..<50 { world.add() }
        world.settle(isWhole: false)
        #expect(world.sent.map(\.messages.count) == [45])
        world.settle()
        #expect(world.sent.map(\.messages.count) == [45, 5])
        world.answerAll(ok)
        world.answerAll(ok)
        #expect(world.outcomes.count == 50 && world.dispatcher.isEmpty)
    }

    @Test func aBodyHasAtMostHalfAMegabyte() {
        let world = RelayWorld()
        for _ in 0..<20 { world.add(60_000) }
        world.settle()
        #expect(world.sent.map(\.messages.count) == [8, 8, 4])
    }

    @Test func fourRequestsAtATime() {
        let world = RelayWorld()
        for _ in 0..<450 { world.add() }
        world.settle()
        #expect(world.sent.count == 4)
        world.answerAll(ok)
        #expect(world.sent.count == 4)
    }

    @Test func aRelayThatIsFullIsLeftAloneForAsLongAsItSays() {
        let world = RelayWorld()
        world.add()
        world.settle()
        world.answer(.refused(relays(429, "too-many-requests", retryAfter: 20_000)))
        #expect(world.sent.isEmpty && world.dispatcher.trouble != nil)
        world.pass(19_999)
        #expect(world.sent.isEmpty)
        world.pass(1)
        #expect(world.sent.count == 1)
        world.answerAll(ok)
        #expect(world.outcomes == [.accepted(APNsAnswer(status: 200, apnsID: "id"))])
        #expect(world.dispatcher.trouble == nil)
    }

    @Test func oneRequestAsksWhetherTheRelayIsBack() {
        let world = RelayWorld()
        for _ in 0..<200 { world.add() }
        world.settle()
        for _ in 0..<4 { world.answer(.unread("no route")) }
        #expect(world.sent.isEmpty)
        world.pass(60_000)
        #expect(world.sent.count == 1)
        world.answerAll(ok)
        #expect(world.sent.count == 4)
    }

    @Test func aMessageWaitsAsItsAnswerSays() {
        let world = RelayWorld()
        world.add()
        world.add()
        world.settle()
        world.answer(.answers([ok, .apns(relays(429, "grant-limit", retryAfter: 30_000))]))
        #expect(world.outcomes.count == 1)
        world.pass(29_000)
        #expect(world.sent.isEmpty)
        world.pass(1000)
        #expect(world.sent.map(\.messages.count) == [1])
    }

    @Test func whatMayHaveArrivedIsSentAgain() {
        let world = RelayWorld()
        let delivery = world.add()
        world.settle()
        world.answer(.answers([.unknown]))
        #expect(world.outcomes.isEmpty)
        world.pass(1000)
        #expect(world.sent.first?.messages.first === delivery)
        world.answer(.unknown)
        world.pass(10_000)
        world.answerAll(ok)
        #expect(world.outcomes == [.accepted(APNsAnswer(status: 200, apnsID: "id"))])
    }

    @Test func whatIsUnknownAtTheEndIsSaidToBe() {
        let world = RelayWorld()
        world.add(retryFor: 5000)
        world.settle()
        world.answer(.answers([.unknown]))
        world.pass(1000)
        world.answer(.unread("no route"))
        world.pass(10_000)
        #expect(world.outcomes == [.unknown(nil)])
    }

    @Test(arguments: ["grant-expired", "grant-revoked", "grant-unknown-key"])
    func anEndedGrantIsNotTriedAgain(_ code: String) {
        let world = RelayWorld()
        world.add()
        world.settle()
        world.answer(.answers([.apns(relays(410, code))]))
        let outcomes = world.outcomes
        #expect(outcomes == [.refused(relays(410, code))])
        let failure = outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == .unregistered && failure?.mayRetry == false)
    }

    @Test(arguments: [
        (relays(403, "wrong-key"), SendCode.wrongAddress, false),
        (relays(400, "kind-not-granted"), .requestRefused, false),
        (relays(400, "malformed-grant"), .requestRefused, false),
        (APNsAnswer(status: 410, reason: "Unregistered", timestamp: 1), .unregistered, false),
        (APNsAnswer(status: 400, reason: "BadDeviceToken"), .wrongAddress, false),
    ])
    func eachRefusalHasItsCode(_ answer: APNsAnswer, _ code: SendCode, _ mayRetry: Bool) {
        let world = RelayWorld()
        world.add()
        world.settle()
        world.answer(.answers([.apns(answer)]))
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == code && failure?.mayRetry == mayRetry)
    }

    @Test func aWrongClockIsCorrected() {
        let world = RelayWorld()
        world.add()
        world.settle()
        #expect(world.dispatcher.time(at: world.now).milliseconds == world.now.wall)
        world.answer(.clock(now: world.now.wall - 7_200_000))
        #expect(world.sent.count == 1)
        #expect(world.dispatcher.time(at: world.now).milliseconds == world.now.wall - 7_200_000)
        world.answerAll(ok)
        #expect(world.outcomes.count == 1)
    }

    @Test func aRelayThatNeverAgreesOnTheTimeIsGivenUp() {
        let world = RelayWorld()
        world.add()
        world.settle()
        for _ in 0..<4 { world.answer(.clock(now: 5)) }
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == .loginRefused && failure?.mayRetry == true)
    }

    /// Requests that were signed before a correction say nothing of it.
    @Test func severalRequestsWithOneWrongClockAreOneCorrection() {
        let world = RelayWorld()
        for _ in 0..<200 { world.add() }
        world.settle()
        #expect(world.sent.count == 4)
        for _ in 0..<4 { world.answer(.clock(now: world.now.wall + 7_200_000)) }
        #expect(world.outcomes.isEmpty && world.sent.count == 4)
        for _ in 0..<5 { world.answerAll(ok) }
        #expect(world.outcomes.count == 200)
    }

    @Test func aMalformedRequestIsMadeSmaller() {
        let world = RelayWorld()
        for _ in 0..<4 { world.add() }
        world.settle()
        world.answer(.refused(relays(400, "malformed-request")))
        #expect(world.sent.map(\.messages.count) == [2, 2])
    }

    /// One bad message makes the requests small until it is found, and not longer.
    @Test func requestsGrowAgain() {
        let world = RelayWorld()
        for _ in 0..<4 { world.add() }
        world.settle()
        world.answer(.refused(relays(400, "malformed-request")))
        world.answer(.refused(relays(400, "malformed-request")))
        while !world.sent.isEmpty { world.answerAll(ok) }
        for _ in 0..<8 { world.add() }
        world.settle()
        #expect(world.sent.first?.messages.count == 8)
    }

    /// What may have rung is not answered with a no.
    @Test func whatAnEarlierRequestMayHaveBroughtStaysUnknown() {
        let world = RelayWorld()
        world.add()
        world.settle()
        world.answer(.unknown)
        world.pass(120_000)
        let refusal = relays(401, "bad-signature")
        world.answer(.refused(refusal))
        #expect(world.outcomes == [.unknown(refusal)])
    }

    @Test func anExpirationIsByTheRelaysClock() {
        let world = RelayWorld()
        world.add(expiration: world.now.wall / 1000 - 3600)
        world.settle()
        #expect(world.outcomes == [.expired(nil)])
        world.add()
        world.settle()
        world.answer(.clock(now: world.now.wall - 7_200_000))
        world.add(expiration: world.now.wall / 1000 - 3600)
        world.settle()
        #expect(world.outcomes.isEmpty && world.sent.count == 2)
    }

    @Test func aProxyThatTakesLessGetsLess() {
        let world = RelayWorld()
        for _ in 0..<40 { world.add() }
        world.settle()
        world.answer(.refused(relays(413, "too-large")))
        #expect(world.sent.map(\.messages.count) == [20, 20])
    }

    @Test func whatIsNoRelayIsGivenUpAfterSomeTime() {
        let world = RelayWorld()
        world.add()
        world.settle()
        for _ in 0..<6 {
            world.answer(.strange(APNsAnswer(status: 301).ofRelay))
            world.pass(60_000)
        }
        let failure = world.outcomes.first.flatMap(SendFailure.init)
        #expect(failure?.code == .requestRefused && failure?.mayRetry == true)
        #expect(world.dispatcher.isEmpty)
    }

    @Test func aStopAnswersWhatIsNotUnderWay() {
        let world = RelayWorld()
        for _ in 0..<200 { world.add() }
        world.settle()
        world.dispatcher.stop()
        #expect(world.outcomes == Array(repeating: .notSent, count: 20))
        world.answer(.unread("no route"))
        #expect(world.outcomes == Array(repeating: .notSent, count: 45))
        world.answerAll(ok)
        world.answer(.answers(Array(repeating: .unknown, count: 45)))
        world.answer(.unknown)
        #expect(world.outcomes.count == 135 && world.dispatcher.isEmpty && world.sent.isEmpty)
    }

    @Test func withoutAConnectionTheAnswerSaysSo() {
        let world = RelayWorld()
        world.add(retryFor: 5000)
        world.settle()
        world.answer(.unread("no route"))
        world.pass(10_000)
        #expect(world.outcomes == [.relayUnreachable("no route")])
    }

    /// Whatever the relay answers, each message is answered once.
    @Test(arguments: 0..<40)
    func everyMessageIsAnsweredOnce(_ seed: UInt64) {
        var random = Seed(seed)
        let world = RelayWorld()
        var added = 0
        var answered = 0
        for _ in 0..<200 {
            for _ in 0..<Int.random(in: 0..<30, using: &random) {
                world.add(
                    Int.random(in: 0..<30_000, using: &random), retryFor: UInt64.random(in: 0..<100_000, using: &random)
                )
                added += 1
            }
            world.settle(isWhole: Bool.random(using: &random))
            if let batch = world.sent.first {
                let answers: [RelayAnswer] = batch.messages.map { _ in
                    [
                        ok, .unknown, .apns(relays(410, "grant-revoked")), .apns(relays(503, "relay-unavailable")),
                        .apns(APNsAnswer(status: 500)), .apns(APNsAnswer(status: 418)),
                    ].randomElement(using: &random) ?? ok
                }
                world.answer(
                    [
                        .answers(answers), .answers(answers), .refused(relays(503, "relay-unavailable")),
                        .refused(relays(413, "too-large")), .refused(relays(401, "bad-signature")), .unread("x"),
                        .unknown, .clock(now: world.now.wall), .strange(APNsAnswer(status: 404).ofRelay),
                    ].randomElement(using: &random) ?? .unknown)
            }
            world.pass(UInt64.random(in: 0..<20_000, using: &random))
            answered += world.outcomes.count
        }
        world.dispatcher.stop()
        while !world.sent.isEmpty { world.answerAll(ok) }
        answered += world.outcomes.count
        #expect(added == answered && world.dispatcher.isEmpty && world.dispatcher.inFlight == 0)
    }
}
