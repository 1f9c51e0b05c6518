/// Permission to try: open until a number of refusals in a row, for different subjects; then one attempt in a pause, which grows.
/// Messages under way may open it.
struct Gate {
    /// The refusals in a row that close it, and for how many subjects: APNs disconnects who sends many.
    let enough: Int
    let subjects: Int
    /// Whether one success keeps it open for good.
    let isOnce: Bool
    /// The times between attempts, in milliseconds; the last one repeats.
    let pauses: [UInt64]

    private var run = 0
    private var tried = 0
    private var seen: Set<String> = []
    private var isImmune = false
    /// The answer that keeps it closed; nil while it is open.
    private(set) var why: PushAnswer?
    private var next: UInt64 = 0

    init(enough: Int, subjects: Int, isOnce: Bool = false, pauses: [UInt64] = [1000, 2000, 4000, 4500]) {
        (self.enough, self.subjects, self.isOnce, self.pauses) = (enough, subjects, isOnce, pauses)
    }

    var isClosed: Bool { why != nil }
    /// Whether a success changes nothing.
    var isAtRest: Bool { run == 0 && why == nil && isImmune == isOnce }

    func allows(_ now: Moment) -> Bool { !isClosed || now.uptime >= next }

    /// Takes note of a success; returns whether the gate was closed.
    mutating func good() -> Bool {
        defer { (run, tried, why, isImmune) = (0, 0, nil, isOnce) }
        if !seen.isEmpty { seen = [] }
        return isClosed
    }

    /// Takes note of a refusal.
    mutating func bad(_ answer: PushAnswer, _ subject: String, _ now: Moment) {
        guard !isImmune else { return }
        guard !isClosed else { return why = answer }
        run += 1
        if seen.count < subjects { seen.insert(subject) }
        guard run >= enough, seen.count >= subjects else { return }
        why = answer
        tries(now)
    }

    /// Closes it until a time.
    mutating func close(_ answer: PushAnswer, until time: UInt64) { (why, next) = (answer, time) }

    /// Takes note of an attempt.
    mutating func tries(_ now: Moment) {
        guard isClosed else { return }
        next = now.uptime + pauses[min(tried, pauses.count - 1)]
        tried += 1
    }
}
