internal import Pushcrypt

/// Decides which messages go to a relay together, when, and how each ends. It does no input or output, and reads no clock.
///
/// The caller takes batches with `nextBatch`, reports what came of each, and takes the answers. Every message that is added is
/// answered exactly once. What is sent again has the same data and collapse id, in a newly signed request, so that a phone rings
/// once. (`Docs/Relay.md`, Answers)
final class RelayDispatcher {
    struct Settings {
        /// The most requests at a time; a relay allows a server eight.
        var requests = 4
        var policy = RetryPolicy()
    }

    /// Messages of one request.
    struct Batch {
        let number: Int
        let messages: [Delivery]
        /// The correction of the clock that the request was signed with.
        let offset: Int64
    }

    /// How often a relay may say that the clock is wrong, and what it does not say, before a message is refused.
    private static let mostCorrections = 3
    private static let mostStrange = Dispatcher.mostStrange

    private let settings: Settings
    /// The most messages of a request, as the relay says, and what stands before it.
    var mostMessages = RelayRequest.mostMessages { didSet { batchSize = mostMessages } }
    /// The most of the next one: fewer after a refusal for which one message may be the reason.
    private var batchSize = RelayRequest.mostMessages
    /// The relay's time minus this machine's, as far as the relay has said it, in milliseconds.
    private(set) var offset: Int64 = 0

    private var ready = ReadyQueue()
    private var delayed = TimedQueue()
    private var open: [Int: [Delivery]] = [:]
    private var count = 0
    /// When the relay may be asked again, and how often it has failed in a row.
    private var pausedUntil: UInt64 = 0
    private var failures = 0
    /// Why there is no connection.
    private var error: String?
    private var corrections = 0
    private var nextSweep: UInt64 = 0

    /// The messages that have ended since the caller took them.
    var answers: [(delivery: Delivery, outcome: Outcome)] = []
    private(set) var isStopped = false
    private(set) var unanswered = 0
    private(set) var requestsSent = 0

    init(_ settings: Settings = Settings()) { self.settings = settings }

    var inFlight: Int { open.values.reduce(0) { $0 + $1.count } }
    /// The messages that wait for something other than their turn, and their bytes.
    var deferred: (count: Int, bytes: Int) { (delayed.count, delayed.bytes) }
    var isEmpty: Bool { unanswered == 0 }
    /// Why the relay is not asked now, for operators; nil if it is.
    var trouble: String? { failures > 0 ? error ?? "it refuses requests" : nil }

    /// The time that a request signs.
    func time(at now: Moment) -> Timestamp {
        let time = Int64(clamping: now.wall).addingReportingOverflow(offset)
        return Timestamp(milliseconds: UInt64(max(0, time.overflow ? .max : time.partialValue)))
    }
}

// MARK: Messages

extension RelayDispatcher {
    /// Adds a message, which must be new.
    func add(_ delivery: Delivery) {
        unanswered += 1
        if isStopped { answer(delivery, .notSent) } else { ready.append(delivery) }
    }

    /// Sends nothing new from now on: messages that are not under way are answered.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        for delivery in ready.all + delayed.removeAll() { giveUp(delivery) }
        ready = ReadyQueue()
    }

    private func answer(_ delivery: Delivery, _ outcome: Outcome) {
        unanswered -= 1
        answers.append((delivery, outcome))
    }

    /// Answers a message that is not sent again.
    private func giveUp(_ delivery: Delivery) {
        switch delivery.setback {
        case .answer(let answer): self.answer(delivery, isStopped ? .stopped(answer) : .gaveUp(answer))
        case .unknown: answer(delivery, .unknown(nil))
        case .unread, nil:
            let outcome: Outcome = isStopped ? .notSent : error.map(Outcome.relayUnreachable) ?? .notTried
            answer(delivery, outcome)
        }
    }

    private func hasEnded(_ delivery: Delivery, at now: Moment) -> Bool {
        now.uptime >= delivery.end || delivery.hasExpired(at: relayMoment(now))
    }

    private func end(_ delivery: Delivery, at now: Moment) {
        if delivery.hasExpired(at: relayMoment(now)) {
            answer(delivery, .expired(delivery.setback))
        } else {
            giveUp(delivery)
        }
    }

    /// The moment by the relay's clock, which is right where this one may not be.
    private func relayMoment(_ now: Moment) -> Moment {
        Moment(uptime: now.uptime, wall: time(at: now).milliseconds)
    }

    private func retry(_ delivery: Delivery, after pause: UInt64, at now: Moment) {
        delivery.due = now.uptime + pause
        if isStopped || delivery.due >= delivery.end { return giveUp(delivery) }
        delayed.insert(delivery, due: min(delivery.due, now.uptime + delivery.timeLeft(at: relayMoment(now))))
    }

    private func again(_ delivery: Delivery) { if isStopped { giveUp(delivery) } else { ready.prepend(delivery) } }
}

// MARK: Requests

extension RelayDispatcher {
    /// Returns the messages of the next request; nil if none goes out now.
    ///
    /// - Parameter isWhole: Whether no more messages are at hand: otherwise a request waits until it is full.
    func nextBatch(isWhole: Bool, at now: Moment) -> Batch? {
        expire(at: now)
        guard now.uptime >= pausedUntil, open.count < (failures > 0 ? 1 : settings.requests), !ready.isEmpty,
            isWhole || ready.count >= batchSize
        else { return nil }
        var messages: [Delivery] = []
        var length = RelayRequest.bodyLength([])
        while messages.count < batchSize, let delivery = ready.first {
            guard !hasEnded(delivery, at: now) else {
                _ = ready.popFirst()
                end(delivery, at: now)
                continue
            }
            length += delivery.request.payload.count + 1
            guard messages.isEmpty || length <= RelayRequest.longestBody else { break }
            _ = ready.popFirst()
            delivery.sentAt = now.uptime
            messages.append(delivery)
        }
        guard !messages.isEmpty else { return nil }
        count += 1
        requestsSent += 1
        open[count] = messages
        return Batch(number: count, messages: messages, offset: offset)
    }

    /// Ends messages whose time has ended, and has those ready that are due.
    func expire(at now: Moment) {
        while let delivery = delayed.popDue(at: now.uptime) {
            if hasEnded(delivery, at: now) { end(delivery, at: now) } else { ready.append(delivery) }
        }
        guard now.uptime >= nextSweep else { return }
        nextSweep = now.uptime + Dispatcher.sweepInterval
        for delivery in ready.remove(where: { hasEnded($0, at: now) }) { end(delivery, at: now) }
    }

    /// The uptime at which `nextBatch` should be called again if nothing happens before; nil if nothing is left to do.
    func wakeTime(at now: Moment) -> UInt64? {
        guard unanswered > 0 else { return nil }
        return [delayed.firstDue, pausedUntil > now.uptime ? pausedUntil : nil, nextSweep].compactMap(\.self).min()
    }
}

// MARK: Results

extension RelayDispatcher {
    /// Reports what came of a request; `signedAt` is the time that it signed.
    func ended(_ batch: Batch, _ response: RelayResponse, at now: Moment) {
        guard let messages = open.removeValue(forKey: batch.number) else { return }
        switch response {
        case .answers(let answers):
            (failures, error, corrections) = (0, nil, 0)
            batchSize = min(mostMessages, batchSize * 2)
            for (delivery, answer) in zip(messages, answers) { take(answer, to: delivery, at: now) }
        case .clock(let time):
            // A request that was signed before the last correction says nothing of it.
            guard batch.offset == offset else { return goBack(messages) }
            let ahead = Int64(clamping: time) - Int64(clamping: now.wall)
            corrections += 1
            guard corrections <= Self.mostCorrections else {
                return refuse(messages, APNsAnswer(status: 401, reason: "clock").ofRelay, at: now)
            }
            offset = ahead
            goBack(messages)
        case .refused(let answer): refuse(messages, answer, at: now)
        case .strange(let answer):
            pause(nil, at: now)
            for delivery in messages.reversed() {
                delivery.attempts += 1
                if delivery.attempts >= Self.mostStrange {
                    refuse(delivery, answer)
                } else {
                    delivery.note(.answer(answer))
                    again(delivery)
                }
            }
        case .unread(let text):
            error = text
            pause(nil, at: now)
            for delivery in messages {
                delivery.unread += 1
                delivery.note(.unread)
            }
            goBack(messages)
        case .unknown:
            pause(nil, at: now)
            for delivery in messages { lose(delivery, at: now) }
        }
    }

    /// Reports that the relay could not be asked what it is, for the reason given.
    func cannotAsk(_ text: String, at now: Moment) {
        error = text
        pause(nil, at: now)
    }

    /// Reports that the relay has said what it is.
    func canAsk() { (failures, error, pausedUntil) = (0, nil, 0) }

    /// The uptime before which nothing is sent to the relay.
    var pauseEnd: UInt64 { pausedUntil }

    private func goBack(_ messages: [Delivery]) { for delivery in messages.reversed() { again(delivery) } }

    /// The relay has sent nothing of a request.
    private func refuse(_ messages: [Delivery], _ answer: APNsAnswer, at now: Moment) {
        switch answer.status {
        case 429, 503:
            error = nil
            pause(answer.retryAfter, at: now)
            for delivery in messages { delivery.note(.answer(answer)) }
            goBack(messages)
        case 413 where messages.count > 1:
            // A proxy before the relay takes less.
            mostMessages = max(1, messages.count / 2)
            goBack(messages)
        case 400 where messages.count > 1 && answer.reason == "malformed-request":
            // One message may be the reason.
            batchSize = max(1, messages.count / 2)
            goBack(messages)
        default: for delivery in messages { refuse(delivery, answer) }
        }
    }

    /// Ends a message; one that an earlier request may have brought to APNs stays unknown.
    private func refuse(_ delivery: Delivery, _ answer: APNsAnswer) {
        self.answer(delivery, delivery.setback == .unknown ? .unknown(answer) : .refused(answer))
    }

    /// Asks the relay for nothing for a while.
    private func pause(_ minimum: UInt64?, at now: Moment) {
        failures += 1
        pausedUntil = max(pausedUntil, now.uptime + settings.policy.pause(after: failures, atLeast: minimum))
    }

    private func take(_ answer: RelayAnswer, to delivery: Delivery, at now: Moment) {
        guard case .apns(let answer) = answer else { return lose(delivery, at: now) }
        delivery.attempts += 1
        switch answer.verdict {
        case .accepted: self.answer(delivery, .accepted(answer))
        case .deviceBusy, .busy, .tokenTooSoon:
            delivery.note(.answer(answer))
            retry(delivery, after: settings.policy.pause(after: delivery.attempts, atLeast: answer.retryAfter), at: now)
        case .strange where delivery.attempts < Self.mostStrange:
            delivery.note(.answer(answer))
            retry(delivery, after: settings.policy.pause(after: delivery.attempts), at: now)
        case .strange: refuse(delivery, answer)
        case .refused, .loginRefused, .expiredToken: self.answer(delivery, .refused(answer))
        }
    }

    /// APNs may have the message: it is sent again, and the phone rings once for both copies.
    private func lose(_ delivery: Delivery, at now: Moment) {
        delivery.attempts += 1
        delivery.note(.unknown)
        retry(delivery, after: settings.policy.pause(after: delivery.attempts), at: now)
    }
}
