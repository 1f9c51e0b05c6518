/// Whether refusals show that the set-up is wrong, and not the messages. Then the topic, or the login, is paused, one message in a while
/// shows whether it still is, and the first that APNs accepts ends the pause.
struct CircuitBreaker {
    /// The equal refusals in a row that are enough: APNs disconnects who sends many.
    static let enough = 20
    /// The time between attempts during a pause, in milliseconds.
    static let interval: UInt64 = 12_000
    /// Nothing is kept for more topics.
    private static let maximumTopics = 1000

    enum Place: Hashable {
        case login
        case topic(String)
    }

    /// A pause: APNs' answer, when the next message may be tried, and the number of the one that is.
    struct Pause {
        let answer: APNsAnswer
        var next: UInt64
        var probe: Int?
    }

    private struct Run {
        /// Whether APNs has shown that topic and key go together.
        var isConfirmed = false
        var answer: APNsAnswer?
        /// The device tokens of the run, or, where APNs does not look at them, the messages.
        var subjects: Set<String> = []
    }

    private var runs: [Place: Run] = [:]
    /// The place of the last message that was accepted.
    private var lastConfirmed: Place?
    private(set) var pauses: [Place: Pause] = [:]

    /// Where a message for a topic must wait; nil if it need not.
    func place(of topic: String) -> Place? {
        guard !pauses.isEmpty else { return nil }
        if pauses[.login] != nil { return .login }
        return pauses[.topic(topic)].map { _ in .topic(topic) }
    }

    /// The places at which a message may be tried now.
    func due(at now: Moment) -> [Place] {
        pauses.isEmpty ? [] : pauses.filter { $0.value.probe == nil && $0.value.next <= now.uptime }.map(\.key)
    }

    /// Takes note that a message is tried.
    mutating func probes(_ place: Place, with number: Int, at now: Moment) {
        pauses[place]?.probe = number
        pauses[place]?.next = now.uptime + Self.interval
    }

    /// Takes note that a request has ended, with or without an answer.
    mutating func ended(_ number: Int) {
        guard !pauses.isEmpty else { return }
        for (place, pause) in pauses where pause.probe == number { pauses[place]?.probe = nil }
    }

    /// Takes note of what APNs decided on a message; returns the pauses that are over.
    mutating func add(_ answer: APNsAnswer, to delivery: Delivery, at now: Moment) -> [Place] {
        let topic = Place.topic(delivery.request.topic)
        // A device that has unregistered was registered here.
        if answer.verdict == .accepted || answer.status == 410 {
            guard topic != lastConfirmed || !pauses.isEmpty else { return [] }
            lastConfirmed = topic
            return confirm(topic) + confirm(.login)
        }
        let place = answer.concernsLogin ? Place.login : topic
        var over: [Place] = []
        if answer.concernsLogin { lastConfirmed = nil } else { over = confirm(.login) }
        update(place) { run in
            // What was right may be revoked, or expire.
            guard !run.isConfirmed || answer.concernsLogin, answer.concernsSetup else {
                run.answer = nil
                return
            }
            if run.answer?.status != answer.status || run.answer?.reason != answer.reason { run.subjects = [] }
            run.answer = answer
            run.subjects.insert(answer.concernsDevice ? delivery.request.deviceToken : "\(delivery.number)")
        }
        if let run = runs[place], run.subjects.count >= Self.enough, pauses[place] == nil {
            runs[place] = Run()
            pauses[place] = Pause(answer: answer, next: now.uptime + Self.interval)
        }
        return over
    }

    private mutating func confirm(_ place: Place) -> [Place] {
        update(place) { $0 = Run(isConfirmed: true) }
        return pauses.removeValue(forKey: place).map { _ in [place] } ?? []
    }

    private mutating func update(_ place: Place, _ change: (inout Run) -> Void) {
        guard var run = runs[place] ?? (runs.count < Self.maximumTopics ? Run() : nil) else { return }
        change(&run)
        runs[place] = run
    }
}
