/// Decides what is sent when, on which connection, and how each message ends. It does no input or output, and reads no clock.
///
/// The caller reports what happened, then takes actions with `nextAction` until there are none, and the answers. Every message that
/// is added is answered exactly once. A fault delays what it concerns: a message, a device, a topic, or the route, which is a host with
/// a login. A dispatcher is one route.
final class Dispatcher {
    struct Settings {
        /// The most connections at a time.
        var connections = 4
        /// How long a request may take, in milliseconds.
        var timeout: UInt64 = 30_000
        /// The most requests a second; nil for no limit.
        var rate: Int?
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

    /// How often a request that was not read goes out again at once.
    static let unreadAtOnce = 3
    /// How often a message is sent that has answers which APNs does not give.
    static let mostStrange = 6
    /// The time between looks for messages and requests whose time has ended.
    static let sweepInterval: UInt64 = 250

    let settings: Settings
    let tokens: TokenSchedule
    var breaker = CircuitBreaker()
    var congestion = Congestion()
    var clock = ClockGuard()
    var health: RouteHealth
    var rate: Rate

    var links: [Link] = []
    var linkCount = 0
    /// Messages that APNs has not read.
    var ready = ReadyQueue()
    /// Messages that are due again, and those that are not yet.
    var retries = ReadyQueue()
    var delayed = TimedQueue()
    /// Messages that wait for their topic or the login.
    var held: [CircuitBreaker.Place: ReadyQueue] = [:]
    /// Messages that are too late by a clock which APNs has not confirmed.
    var doubtful = ReadyQueue()
    /// The request that asks for APNs' time.
    var clockProbe: Delivery?
    /// When APNs may be asked again for a device token.
    var busyTokens: [String: UInt64] = [:]
    /// The repeated requests that are open.
    var openRetries = 0
    var nextSweep: UInt64 = 0
    var overdue: [(delivery: Delivery, link: Int)] = []
    /// Whether the next attempt during a pause is the newest message: the oldest ones may all be bad.
    var triesNewest = true

    /// The messages that have ended since the caller took them.
    var answers: [(delivery: Delivery, outcome: Outcome)] = []
    private(set) var isStopped = false
    /// The messages that are not answered yet.
    private(set) var unanswered = 0
    var connectionsOpened = 0
    var requestsSent = 0

    init(_ settings: Settings, tokens: TokenSchedule = TokenSchedule()) {
        self.settings = settings
        self.tokens = tokens
        health = RouteHealth(random: settings.policy.random)
        rate = Rate(settings.rate)
    }

    /// The messages for which a request is out.
    var inFlight: Int { links.reduce(0) { $0 + $1.requests.count } }

    /// The messages that wait for something other than their turn, and their bytes.
    var deferred: (count: Int, bytes: Int) {
        held.values.reduce(
            (delayed.count + retries.count + doubtful.count, delayed.bytes + retries.bytes + doubtful.bytes)
        ) {
            ($0.0 + $1.count, $0.1 + $1.bytes)
        }
    }

    /// Whether there is a connection that APNs has not ended.
    var isConnected: Bool { links.contains { $0.isConnected && !$0.isDraining } }
}

// MARK: Messages

extension Dispatcher {
    /// Adds a message, which must be new.
    func add(_ delivery: Delivery) {
        unanswered += 1
        if isStopped { answer(delivery, .notSent) } else { ready.append(delivery) }
    }

    /// Sends nothing new from now on: messages that are not under way are answered, and the others when they end.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        for queue in [ready, retries, doubtful] + held.values {
            for delivery in queue.all { giveUp(delivery) }
        }
        for delivery in delayed.removeAll() { giveUp(delivery) }
        (ready, retries, doubtful, held) = (ReadyQueue(), ReadyQueue(), ReadyQueue(), [:])
    }

    func answer(_ delivery: Delivery, _ outcome: Outcome) {
        unanswered -= 1
        answers.append((delivery, outcome))
    }

    /// Whether its time has ended. By a clock that APNs has not confirmed, an expiration has not come.
    func hasEnded(_ delivery: Delivery, at now: Moment) -> Bool {
        now.uptime >= delivery.end || clock.isTrusted && delivery.hasExpired(at: now)
    }

    /// Answers a message whose time has ended.
    func end(_ delivery: Delivery, at now: Moment) {
        if clock.isTrusted, delivery.hasExpired(at: now) {
            answer(delivery, .expired(delivery.setback))
        } else {
            giveUp(delivery)
        }
    }

    /// Answers a message that is not sent again.
    func giveUp(_ delivery: Delivery) {
        switch delivery.setback {
        case .answer(let answer):
            self.answer(
                delivery, isStopped ? .stopped(answer) : answer.concernsLogin ? .refused(answer) : .gaveUp(answer))
        case .unknown: answer(delivery, .unknown(delivery.hold))
        case .unread, nil:
            if isStopped {
                answer(delivery, .notSent)
            } else if let refusal = delivery.hold {
                answer(delivery, .held(refusal))
            } else if let ahead = clock.error {
                answer(delivery, .clockWrong(ahead))
            } else if let error = health.error, !isConnected {
                answer(delivery, .unreachable(error))
            } else {
                answer(delivery, .notTried)
            }
        }
    }

    /// Sends a message again after a pause, unless its time ends before.
    func retry(_ delivery: Delivery, after pause: UInt64, at now: Moment) {
        delivery.due = now.uptime + pause
        if isStopped || delivery.due >= delivery.end { giveUp(delivery) } else { delay(delivery, at: now) }
    }

    /// Keeps a message until it is due, or expires.
    private func delay(_ delivery: Delivery, at now: Moment) {
        delayed.insert(delivery, due: min(delivery.due, now.uptime + delivery.timeLeft(at: now)))
    }

    /// Sends a message as soon as possible.
    func again(_ delivery: Delivery) {
        if isStopped {
            giveUp(delivery)
        } else if delivery.attempts > 0 {
            retries.prepend(delivery)
        } else {
            ready.prepend(delivery)
        }
    }

    /// Moves on the delayed messages that are due.
    func takeDue(at now: Moment) {
        while let delivery = delayed.popDue(at: now.uptime) {
            if hasEnded(delivery, at: now) {
                end(delivery, at: now)
            } else if delivery.hasExpired(at: now) {
                doubtful.append(delivery)
            } else if now.uptime < delivery.due {
                // The system's clock was set back.
                delay(delivery, at: now)
            } else if delivery.attempts > 0 {
                retries.append(delivery)
            } else {
                ready.append(delivery)
            }
        }
    }
}
