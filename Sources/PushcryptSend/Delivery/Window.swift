/// How many requests are open: one more for each decision, 0.8 fewer for each that is busy, half as many after a loss.
///
/// It grows as long as fewer than 55 % are busy. After the first loss a round trip adds one, as in TCP.
struct Window {
    private static let first = 100.0
    private static let least = 4.0
    private static let most = 64_000.0

    private var limit = first
    private var isLossy = false
    private var halvedAt: UInt64?
    /// Whether anything was decided that was sent since the last halving: an outage is one loss.
    private var hasDecided = true

    func allows(_ open: Int) -> Bool { open < Int(limit) }

    /// The most requests on one of some connections: after a loss they share the risk.
    func share(of connections: Int) -> Int { isLossy ? max(1, Int(limit) / max(1, connections)) : .max }

    /// Takes note of a decision, when `open` requests were. What is not used shows nothing.
    mutating func good(sentAt: UInt64, _ open: Int) {
        if halvedAt.map({ sentAt > $0 }) ?? true { hasDecided = true }
        if Double(open) * 2 >= limit { step(1) }
    }

    /// Takes note of an answer that says busy.
    mutating func busy() { step(-0.8) }

    /// Takes note of a lost request of `open`. Those that were sent before the last halving are part of the same loss.
    mutating func lost(sentAt: UInt64, _ open: Int, _ now: Moment) {
        if let halvedAt, sentAt <= halvedAt { return }
        guard hasDecided else { return }
        (isLossy, halvedAt, hasDecided) = (true, now.uptime, false)
        limit = max(Self.least, min(limit, Double(open)) / 2)
    }

    private mutating func step(_ change: Double) {
        limit = min(Self.most, max(Self.least, limit + change * (isLossy ? 1 / limit : 1)))
    }
}

/// How many requests may be repeated whose answer was lost: as many as are decided, and one a second, so that a fault is not
/// multiplied. A refusal was no push: its repeat is free.
struct Budget {
    private static let most = 100.0

    private var left = 10.0
    private var at: UInt64?

    mutating func add(_ count: Double) { left = min(Self.most, left + count) }

    mutating func allows(_ now: Moment) -> Bool {
        add(Double(now.uptime - min(now.uptime, at ?? now.uptime)) / 1000)
        at = now.uptime
        return left >= 1
    }
}
