/// How many requests are open at a time, and how many of them may be repeated ones.
///
/// As in TCP: half as many after a loss, one more in each round trip, and twice as many in each until the first loss. Repeated requests
/// have a budget, as in Envoy and gRPC: five messages that APNs decides on pay for one, so that a fault is not multiplied.
struct Congestion {
    private static let first = 100.0
    /// On connections of their own.
    private static let least = 2.0
    private static let most = 64_000.0
    /// What a decided message adds to the budget, and the most that it holds.
    private static let deposit = 0.2
    private static let mostSaved = 100.0

    private var limit = first
    private var hadLoss = false
    private var halvedAt: UInt64 = 0
    private var budget = 10.0

    /// The most requests on one of some connections: after a loss they share the risk.
    func share(of connections: Int) -> Int { hadLoss ? max(1, Int(limit) / connections) : .max }

    func allows(_ open: Int) -> Bool { open < Int(limit) }

    /// One repeated request is always possible.
    func allowsRetry(_ open: Int) -> Bool { open < 1 + Int(budget) }

    /// Takes note that APNs has decided on a message while `open` others were.
    mutating func decided(_ open: Int) {
        budget = min(Self.mostSaved, budget + Self.deposit)
        // What is not used shows nothing.
        guard Double(open) * 2 >= limit else { return }
        limit = min(Self.most, limit + (hadLoss ? 1 / limit : 1))
    }

    /// Takes note that a request has to be repeated although it was answered.
    mutating func refused() { budget = max(0, budget - 1) }

    /// Takes note of a request without an answer, which was one of `open`. Those that were sent before are part of the same loss.
    mutating func lost(sentAt: UInt64, _ open: Int, at now: Moment) {
        refused()
        guard !hadLoss || sentAt > halvedAt else { return }
        hadLoss = true
        halvedAt = now.uptime
        limit = max(Self.least, min(limit, Double(open)) / 2)
    }
}
