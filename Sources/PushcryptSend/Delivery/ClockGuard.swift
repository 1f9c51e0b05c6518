/// Whether this machine's clock agrees with APNs', as far as APNs says its time. A message is too late only by a clock that does.
struct ClockGuard {
    /// The difference that is no fault, in milliseconds.
    static let tolerance: Int64 = 300_000
    /// The time between questions, in milliseconds.
    static let interval: UInt64 = 12_000

    private enum State: Equatable {
        case unknown, confirmed
        /// By so many milliseconds ahead.
        case wrong(Int64)
    }

    private var state = State.unknown
    /// The wall clock less the uptime, when it was last confirmed.
    private var offset: Int64 = 0
    private(set) var nextProbe: UInt64 = 0

    var isTrusted: Bool { state == .confirmed }
    /// The milliseconds by which it is ahead, or less than zero if it is behind; nil unless it is wrong.
    var error: Int64? { if case .wrong(let ahead) = state { ahead } else { nil } }

    /// Says by how many milliseconds the clock is ahead.
    static func text(_ ahead: Int64) -> String {
        "this machine's clock is \(abs(ahead) / 1000) s \(ahead < 0 ? "behind" : "ahead of") APNs'"
    }

    /// Takes note of the time that an answer has; one without a time leaves nothing to compare with.
    mutating func heard(_ time: UInt64?, at now: Moment) {
        guard let time else {
            if state == .unknown { confirm(at: now) }
            return
        }
        let ahead = Int64(clamping: now.wall) - Int64(clamping: time)
        if abs(ahead) <= Self.tolerance { return confirm(at: now) }
        if error == nil { nextProbe = now.uptime + Self.interval }
        state = .wrong(ahead)
    }

    /// Notices a clock that was set.
    mutating func check(at now: Moment) {
        guard state == .confirmed else { return }
        if abs(Self.offset(now) - offset) > Self.tolerance { state = .unknown }
    }

    mutating func probed(at now: Moment) { nextProbe = now.uptime + Self.interval }

    private mutating func confirm(at now: Moment) {
        state = .confirmed
        offset = Self.offset(now)
    }

    private static func offset(_ now: Moment) -> Int64 { Int64(clamping: now.wall) - Int64(clamping: now.uptime) }
}
