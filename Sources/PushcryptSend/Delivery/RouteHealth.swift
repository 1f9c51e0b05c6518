/// What recent answers and connections say about the way to APNs: when another connection may be tried, and whether all is to go slowly.
/// It belongs to host and login, so a new connection does not forget it.
struct RouteHealth {
    /// The time between connections while they fail, in milliseconds: with a random part of a second, at most six in a minute.
    static let reconnection: UInt64 = 12_000
    /// The longest time between requests while APNs is busy, and of a message since whose first failure nothing was accepted.
    static let longestProbe: UInt64 = 10_000
    /// APNs is busy if so many of the last answers, for so many device tokens, say so.
    private static let recent = 50
    private static let enoughBusy = 20
    private static let enoughTokens = 10
    /// Answers in a row that end the doubts about connections.
    private static let enoughGood = 3

    private let random: () -> Double
    /// The connections that failed in a row.
    private var failures = 0
    private(set) var nextConnection: UInt64 = 0
    /// Why the last connection failed.
    private(set) var error: String?
    private var hasFailedToConnect = false
    private var failedAt: UInt64 = 0
    private var quick = 1
    private var good = 0
    /// When APNs last decided on a message.
    private var workedAt: UInt64?
    /// The last answers: the device token of each that says APNs is busy.
    private var answers: [String?] = []
    private var place = 0
    /// Why there is one request at a time, and when the next may go out.
    private(set) var slow: (text: String, probes: Int, next: UInt64)?

    init(random: @escaping () -> Double) { self.random = random }

    /// Whether the last connections failed.
    var isDown: Bool { failures > 1 || hasFailedToConnect }

    /// Whether APNs has decided on any message since a time.
    func hasWorked(since time: UInt64) -> Bool { workedAt.map { $0 > time } ?? false }

    /// Whether a request may go out beside `open` others.
    func allows(_ open: Int, at now: Moment) -> Bool { slow.map { open == 0 && now.uptime >= $0.next } ?? true }

    /// Takes note that APNs has decided on a message.
    mutating func worked(at now: Moment) {
        workedAt = now.uptime
        note(nil)
        if slow != nil {
            slow = nil
            answers = []
        }
        good += 1
        if good >= Self.enoughGood { forgetFailures() }
    }

    /// Takes note that APNs is busy.
    mutating func busy(_ token: String, _ text: String, at now: Moment) {
        good = 0
        note(token)
        if let probes = slow?.probes {
            slow = (text, probes + 1, now.uptime + min(Self.longestProbe, 1000 << UInt64(min(probes, 10))))
        } else {
            let busy = answers.compactMap { $0 }
            guard busy.count >= Self.enoughBusy, Set(busy).count >= Self.enoughTokens else { return }
            slow = (text, 1, now.uptime + 1000)
        }
    }

    private mutating func note(_ token: String?) {
        if answers.count < Self.recent { return answers.append(token) }
        answers[place] = token
        place = (place + 1) % Self.recent
    }

    /// Takes note that another connection is tried. While they fail, that is one at a time.
    mutating func connects(at now: Moment) {
        if failures > quick { nextConnection = now.uptime + Self.reconnection }
    }

    /// Takes note that a connection cannot be made, or has ended without use.
    ///
    /// - Parameter text: Why; nil if it was made, and allowed no request.
    mutating func failed(_ link: Link, _ text: String?, at now: Moment) {
        // Without an answer, others may have had better luck since the last one; after 503 they count for little.
        let isAlone = link.isUseful == false || !hasWorked(since: failedAt)
        failures = isAlone ? failures + 1 : 1
        failedAt = now.uptime
        good = 0
        error = text
        if !link.isConnected { hasFailedToConnect = true }
        // The first one is replaced soon; two, if there was an answer just before.
        if failures == 1 {
            quick = link.isUseful == nil && hasWorked(since: now.uptime - min(now.uptime, 5000)) ? 2 : 1
        }
        let isQuick = failures <= quick
        let pause = isQuick ? (link.isConnected ? 0 : 1000) : Self.reconnection + UInt64(random() * 1000)
        nextConnection = max(now.uptime, (isQuick ? now.uptime : link.startedAt) + pause)
    }

    /// Takes note that a connection has ended whose last answer was of use.
    mutating func ended() {
        if good > 0 { forgetFailures() }
    }

    private mutating func forgetFailures() {
        (failures, nextConnection, hasFailedToConnect) = (0, 0, false)
    }
}
