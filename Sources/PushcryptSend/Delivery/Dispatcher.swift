/// Decides what is sent when, on which connection, and how each message ends. It does no input or output, and reads no clock.
///
/// The caller reports what happened, then takes actions with `nextAction` until there are none, and the answers. Every message that
/// is added is answered exactly once.
final class Dispatcher {
    struct Settings {
        /// The most connections at a time.
        var connections = 4
        /// How long a request may take, in milliseconds.
        var timeout: UInt64 = 30_000
        /// The most requests a second; nil for no limit.
        var rate: Int?
        /// Whether a message is sent again if it is not known whether APNs has it.
        var retriesUnknown = true
        /// Whether requests carry a provider token; otherwise a certificate authenticates the connection.
        var usesToken = true
        var policy = RetryPolicy()
    }

    enum Action {
        case connect(Int)
        case send(Delivery, on: Int)
        /// Ends a request whose time has ended; the caller then reports `failed`.
        case cancel(Delivery, on: Int)
        /// Closes a connection that has no request, and is forgotten.
        case close(Int)
    }

    /// Why nothing more is sent.
    enum StopReason: Equatable {
        case requested
        /// APNs refuses every message alike, and has accepted none, or refuses the login, also if it has accepted it before.
        case refusals(APNsAnswer)
        /// The first connection cannot succeed until something changes, as the text says.
        case noConnection(String)
    }

    /// How often a request that was not read goes out again at once.
    private static let unreadAtOnce = 3
    /// The longest pause before another connection, in milliseconds: after an outage messages are tried soon.
    private static let longestDisconnection: UInt64 = 30_000
    /// The time between looks for messages and requests whose time has ended.
    private static let sweepInterval: UInt64 = 250

    let settings: Settings
    private let tokens: TokenSchedule
    private let breaker: CircuitBreaker
    private let environment: String
    private var links: [Link] = []
    private var linkCount = 0
    private var ready = ReadyQueue()
    private var delayed = TimedQueue()
    /// When APNs may be asked again for a device token.
    private var busyTokens: [String: UInt64] = [:]
    private var nextConnection: UInt64 = 0
    private var failedConnections = 0
    private var connectionError: String?
    private var hasConnected = false
    private var nextSweep: UInt64 = 0
    private var overdue: [(delivery: Delivery, link: Int)] = []
    private var rate: Rate

    /// The messages that have ended since the caller took them.
    var answers: [(delivery: Delivery, outcome: Outcome)] = []
    /// The topics whose messages are held since the caller took them; nil for those of all topics.
    var rested: [(topic: String?, answer: APNsAnswer)] = []
    private(set) var stopReason: StopReason?
    /// The messages that are not answered yet.
    private(set) var unanswered = 0
    private(set) var connectionsOpened = 0

    init(
        _ settings: Settings, tokens: TokenSchedule = TokenSchedule(), breaker: CircuitBreaker = CircuitBreaker(),
        environment: String = ""
    ) {
        self.settings = settings
        self.tokens = tokens
        self.breaker = breaker
        self.environment = environment
        rate = Rate(settings.rate)
    }

    /// The messages for which a request is out.
    var inFlight: Int { links.reduce(0) { $0 + $1.requests.count } }
}

/// A connection, as the dispatcher sees it.
private struct Link {
    let number: Int
    var isConnected = false
    /// Streams that may be open; nil until APNs has said how many.
    var capacity: Int?
    /// Whether APNs has answered in a way that shows it accepts the provider token.
    var isProven: Bool
    /// Whether nothing new goes into it.
    var isDraining = false
    var hasAnswered = false
    var pausedUntil: UInt64 = 0
    var pauses = 0
    /// Since when it is connected and has no request, because APNs allows none.
    var blockedSince: UInt64?
    var requests: [Int: Delivery] = [:]

    var isBlocked: Bool { isConnected && (capacity ?? 0) == 0 && requests.isEmpty }
    var isFull: Bool { requests.count >= min(capacity ?? 0, isProven ? .max : 1) }
}

/// A limit of requests a second, which lets through what a tenth of a second may have.
private struct Rate {
    private let perSecond: Int?
    private var tokens = 0.0
    private var last: UInt64?

    init(_ perSecond: Int?) { self.perSecond = perSecond }

    /// Returns 0 if a request may go out, or the milliseconds until then.
    mutating func wait(at now: UInt64) -> UInt64 {
        guard let perSecond else { return 0 }
        let most = max(1, Double(perSecond) / 10)
        tokens = last.map { min(most, tokens + Double(now - min(now, $0)) * Double(perSecond) / 1000) } ?? 1
        last = now
        return tokens >= 1 ? 0 : UInt64(((1 - tokens) * 1000 / Double(perSecond)).rounded(.up))
    }

    mutating func take() { tokens -= 1 }
}

// MARK: Messages

extension Dispatcher {
    /// Adds a message, which must be new.
    func add(_ delivery: Delivery, at now: Moment) {
        unanswered += 1
        if stopReason != nil {
            answer(delivery, .notSent)
        } else if delivery.hasEnded(at: now) {
            end(delivery, at: now)
        } else {
            ready.append(delivery)
        }
    }

    /// Sends nothing new from now on: messages that are not under way are answered, and the others when they end.
    func stop(_ reason: StopReason = .requested) {
        guard stopReason == nil else { return }
        stopReason = reason
        while let delivery = ready.popFirst() { giveUp(delivery) }
        for delivery in delayed.removeAll() { giveUp(delivery) }
    }

    private func answer(_ delivery: Delivery, _ outcome: Outcome) {
        unanswered -= 1
        answers.append((delivery, outcome))
    }

    /// Answers a message whose time has ended.
    private func end(_ delivery: Delivery, at now: Moment) {
        if delivery.hasExpired(at: now) {
            answer(delivery, .expired(delivery.setback))
        } else {
            giveUp(delivery)
        }
    }

    /// Answers a message that is not sent again.
    private func giveUp(_ delivery: Delivery) {
        switch delivery.setback {
        case .answer(let answer): self.answer(delivery, stopReason == nil ? .gaveUp(answer) : .stopped(answer))
        case .unknown: answer(delivery, .unknown(nil))
        case .unread, nil:
            if stopReason != nil {
                answer(delivery, .notSent)
            } else if let connectionError, !hasConnected || failedConnections > 0 {
                answer(delivery, .unreachable(connectionError))
            } else {
                answer(delivery, .notTried)
            }
        }
    }

    /// Sends a message again after a pause, unless its time ends before.
    private func retry(_ delivery: Delivery, after pause: UInt64, at now: Moment) {
        delivery.due = now.uptime + pause
        if stopReason != nil || delivery.due >= delivery.end { giveUp(delivery) } else { delay(delivery, at: now) }
    }

    /// Keeps a message until it is due, or expires.
    private func delay(_ delivery: Delivery, at now: Moment) {
        delayed.insert(delivery, due: min(delivery.due, now.uptime + delivery.timeLeft(at: now)))
    }

    private func again(_ delivery: Delivery, at now: Moment) {
        if stopReason != nil { giveUp(delivery) } else { ready.prepend(delivery) }
    }
}

// MARK: Actions

extension Dispatcher {
    /// Returns the next action to take now; nil if there is none.
    func nextAction(at now: Moment) -> Action? {
        sweep(at: now)
        while let delivery = delayed.popDue(at: now.uptime) {
            if delivery.hasEnded(at: now) {
                end(delivery, at: now)
            } else if now.uptime < delivery.due {
                // The system's clock was set back.
                delay(delivery, at: now)
            } else {
                ready.append(delivery)
            }
        }
        if let (delivery, link) = overdue.popLast() { return .cancel(delivery, on: link) }
        if let action = nextRequest(at: now) { return action }
        if let index = links.firstIndex(where: { $0.isDraining && $0.requests.isEmpty }) {
            let old = links.remove(at: index)
            if !old.hasAnswered { replaceUnanswered(at: now) }
            return .close(old.number)
        }
        guard mayConnect(at: now) else { return nil }
        linkCount += 1
        connectionsOpened += 1
        links.append(Link(number: linkCount, isProven: !settings.usesToken))
        return .connect(linkCount)
    }

    private func nextRequest(at now: Moment) -> Action? {
        while let delivery = ready.first {
            if delivery.hasEnded(at: now) {
                _ = ready.popFirst()
                end(delivery, at: now)
                continue
            }
            if let refusal = breaker.refusal(of: delivery.request.topic, in: environment, at: now) {
                _ = ready.popFirst()
                answer(delivery, delivery.setback == .unknown ? .unknown(refusal) : .held(refusal))
                continue
            }
            if !busyTokens.isEmpty, let due = busyTokens[delivery.request.deviceToken], due > now.uptime {
                _ = ready.popFirst()
                retry(delivery, after: due - now.uptime, at: now)
                continue
            }
            guard
                let index = links.firstIndex(where: {
                    $0.isConnected && !$0.isDraining && !$0.isFull && $0.pausedUntil <= now.uptime
                }), rate.wait(at: now.uptime) == 0
            else { return nil }
            rate.take()
            _ = ready.popFirst()
            delivery.sentAt = now.uptime
            delivery.tokenGeneration = settings.usesToken ? tokens.current(at: now) : 0
            links[index].requests[delivery.number] = delivery
            return .send(delivery, on: links[index].number)
        }
        return nil
    }

    /// Whether another connection is needed: every one has all the streams that it may have.
    private func mayConnect(at now: Moment) -> Bool {
        guard stopReason == nil, !ready.isEmpty, now.uptime >= nextConnection else { return false }
        let usable = links.filter { !$0.isDraining }
        guard usable.count < settings.connections else { return false }
        return usable.allSatisfy {
            $0.isConnected && $0.capacity != nil && $0.isProven && $0.isFull && $0.pausedUntil <= now.uptime
        }
    }

    /// Ends messages and requests whose time has ended.
    private func sweep(at now: Moment) {
        guard now.uptime >= nextSweep else { return }
        nextSweep = now.uptime + Self.sweepInterval
        for delivery in ready.remove(where: { $0.hasEnded(at: now) }) { end(delivery, at: now) }
        if !busyTokens.isEmpty { busyTokens = busyTokens.filter { $0.value > now.uptime } }
        // A connection with a request that gets no answer may be stuck permanently: nothing new goes into it, and every other request
        // has its own time. One that allows no request is replaced.
        overdue = []
        for index in links.indices {
            links[index].blockedSince = links[index].isBlocked ? links[index].blockedSince ?? now.uptime : nil
            if let since = links[index].blockedSince, now.uptime >= since + settings.timeout {
                links[index].isDraining = true
            }
            for delivery in links[index].requests.values where now.uptime >= delivery.sentAt + settings.timeout {
                overdue.append((delivery, links[index].number))
                links[index].isDraining = true
            }
        }
    }

    /// The uptime at which `nextAction` should be called again if nothing happens before; nil if nothing is left to do.
    func wakeTime(at now: Moment) -> UInt64? {
        var times: [UInt64] = []
        if let due = delayed.firstDue { times.append(due) }
        if !ready.isEmpty {
            let pause = rate.wait(at: now.uptime)
            if pause > 0 { times.append(now.uptime + pause) }
            for time in [nextConnection] + links.map(\.pausedUntil) where time > now.uptime { times.append(time) }
        }
        if unanswered > 0 || links.contains(where: { !$0.requests.isEmpty }) { times.append(nextSweep) }
        return times.min()
    }
}

// MARK: Reports

extension Dispatcher {
    /// Reports that a connection is made, and verified.
    func connected(_ link: Int) {
        guard let index = index(of: link) else { return }
        links[index].isConnected = true
        hasConnected = true
    }

    /// Reports that a connection cannot be made.
    ///
    /// - Parameter isLasting: Whether another attempt cannot succeed until something changes, such as a certificate.
    func connectionFailed(_ link: Int, _ text: String, isLasting: Bool, at now: Moment) {
        links.removeAll { $0.number == link }
        connectionError = text
        delayConnection(at: now)
        if isLasting, !hasConnected { stop(.noConnection(text)) }
    }

    /// Reports how many streams APNs allows.
    func allowed(_ streams: Int, on link: Int) {
        if let index = index(of: link) { links[index].capacity = streams }
    }

    /// Reports that APNs ends a connection; requests that it has taken may still be answered.
    func goingAway(_ link: Int) {
        if let index = index(of: link) { links[index].isDraining = true }
    }

    /// Reports the answer to a message.
    func answered(_ delivery: Delivery, _ answer: APNsAnswer, on link: Int, at now: Moment) {
        guard remove(delivery, from: link) else { return }
        delivery.attempts += 1
        if let index = index(of: link) {
            links[index].hasAnswered = true
            failedConnections = 0
            if answer.provesToken { links[index].isProven = true }
        }
        switch answer.verdict {
        case .accepted:
            _ = breaker.add(answer, to: delivery, in: environment, at: now)
            self.answer(delivery, .accepted(answer))
        case .expiredToken:
            guard !delivery.hadExpiredToken, tokens.hasExpired(delivery.tokenGeneration, at: now) else {
                return refuse(delivery, answer, at: now)
            }
            delivery.hadExpiredToken = true
            again(delivery, at: now)
        case .refused: refuse(delivery, answer, at: now)
        case .tryAgain:
            delivery.note(.answer(answer))
            retry(delivery, after: pause(of: delivery, answer), at: now)
        case .deviceBusy:
            delivery.note(.answer(answer))
            let pause = pause(of: delivery, answer)
            busyTokens[delivery.request.deviceToken] = now.uptime + pause
            retry(delivery, after: pause, at: now)
        case .connectionBusy:
            delivery.note(.answer(answer))
            let pause = pause(of: delivery, answer)
            if let index = index(of: link) {
                links[index].pausedUntil = max(links[index].pausedUntil, now.uptime + pause)
            }
            retry(delivery, after: pause, at: now)
        case .tokenTooSoon:
            // The connection knows another token; every other one may take this message.
            delivery.note(.answer(answer))
            if let index = index(of: link), links[index].pausedUntil <= now.uptime {
                links[index].pauses += 1
                let pause = settings.policy.pause(after: links[index].pauses, atLeast: answer.retryAfter)
                links[index].pausedUntil = now.uptime + pause
            }
            again(delivery, at: now)
        }
    }

    /// Reports that a request ended without an answer.
    ///
    /// - Parameter wasRead: False if APNs has certainly not processed the request.
    func failed(_ delivery: Delivery, wasRead: Bool, on link: Int, at now: Moment) {
        guard remove(delivery, from: link) else { return }
        if wasRead {
            delivery.attempts += 1
            delivery.note(.unknown)
            guard settings.retriesUnknown else { return answer(delivery, .unknown(nil)) }
            retry(delivery, after: settings.policy.pause(after: delivery.attempts), at: now)
        } else {
            delivery.unread += 1
            delivery.note(.unread)
            if delivery.unread <= Self.unreadAtOnce {
                again(delivery, at: now)
            } else {
                retry(delivery, after: settings.policy.pause(after: delivery.unread - Self.unreadAtOnce), at: now)
            }
        }
    }

    /// Reports that a connection has ended; before, `failed` was called for each of its requests.
    func lost(_ link: Int, _ text: String, at now: Moment) {
        guard let index = index(of: link) else { return }
        let old = links.remove(at: index)
        guard !old.hasAnswered else { return }
        if old.isDraining { return replaceUnanswered(at: now) }
        // Back off from peers that accept and close.
        connectionError = text
        delayConnection(at: now)
    }

    private func index(of link: Int) -> Int? { links.firstIndex { $0.number == link } }

    private func remove(_ delivery: Delivery, from link: Int) -> Bool {
        guard let index = index(of: link) else { return false }
        return links[index].requests.removeValue(forKey: delivery.number) != nil
    }

    private func pause(of delivery: Delivery, _ answer: APNsAnswer) -> UInt64 {
        settings.policy.pause(after: delivery.attempts, atLeast: answer.retryAfter)
    }

    /// Delays the next connection after several in a row that APNs has ended before it answered anything; the first is replaced
    /// at once.
    private func replaceUnanswered(at now: Moment) {
        if failedConnections == 0 { failedConnections = 1 } else { delayConnection(at: now) }
    }

    private func delayConnection(at now: Moment) {
        failedConnections += 1
        nextConnection = now.uptime + min(settings.policy.pause(after: failedConnections), Self.longestDisconnection)
    }

    private func refuse(_ delivery: Delivery, _ answer: APNsAnswer, at now: Moment) {
        // An earlier copy may have arrived; only of the device does this answer say more.
        let mayHaveArrived = delivery.setback == .unknown && answer.concernsLogin
        self.answer(delivery, mayHaveArrived ? .unknown(answer) : .refused(answer))
        guard breaker.add(answer, to: delivery, in: environment, at: now) else { return }
        guard breaker.hasOthers(than: answer, in: environment) else { return stop(.refusals(answer)) }
        rested.append((answer.concernsLogin ? nil : delivery.request.topic, answer))
    }
}
