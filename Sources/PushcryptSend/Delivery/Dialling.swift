/// When another connection may be tried: at most six a minute while they fail. What failed together is one failure.
struct Dialling {
    /// The pauses after the first two failures in a row, of a connection that was made and of one that was not, and the later ones,
    /// in milliseconds since its beginning.
    private static let afterMade: [UInt64] = [250, 4000]
    private static let afterRefused: [UInt64] = [4000, 4000]
    private static let last: UInt64 = 14_000

    private let random: () -> Double
    private var failures = 0
    private var failedAt: UInt64?
    private var wasMade = false
    private(set) var next: UInt64 = 0
    /// Why connections fail; nil while they do not.
    private(set) var why: String?

    init(random: @escaping () -> Double) { self.random = random }

    func allows(_ now: Moment) -> Bool { now.uptime >= next }

    /// Takes note of connections that work. After one that was refused the pause goes on: it was one too many, and others are served.
    mutating func good() {
        if failures > 0, wasMade { next = 0 }
        (failures, why) = (0, nil)
    }

    /// Takes note of a connection that was not made, or ended without use. One that began before the last failure is the same event.
    mutating func bad(_ link: Link, _ text: String, _ now: Moment) {
        if let failedAt, link.startedAt < failedAt { return }
        // To say busy and close is no accident.
        failures += link.isUseful == false ? 3 : 1
        (wasMade, failedAt) = (link.isConnected, now.uptime)
        if failures > 1 || !wasMade { why = text }
        next = max(now.uptime, link.startedAt + pause)
    }

    /// Takes note of another attempt.
    mutating func tries(_ now: Moment) { if why != nil { next = now.uptime + pause } }

    private var pause: UInt64 {
        failures < 3
            ? (wasMade ? Self.afterMade : Self.afterRefused)[max(0, failures - 1)]
            : Self.last + UInt64(400 * random())
    }
}
