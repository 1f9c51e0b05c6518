/// The server's time, as far as it has said it: this machine's clock may be wrong.
struct ServerClock {
    /// The difference that is no fault, in milliseconds.
    static let tolerance: Int64 = 300_000

    /// The server's time less this machine's, in milliseconds; 0 within the tolerance.
    private(set) var offset: Int64 = 0
    /// Whether the server has answered since the clock was last set.
    private(set) var isConfirmed = false
    /// The wall clock less the uptime, when it was last confirmed.
    private var base: Int64 = 0

    /// The time since 1970-01-01 UTC.
    func time(_ now: Moment) -> UInt64 { UInt64(max(0, Int64(clamping: now.wall) + offset)) }

    /// Takes note of the time that an answer has, or that it has none; returns whether the correction has changed.
    mutating func heard(_ time: UInt64?, _ now: Moment) -> Bool {
        let old = offset
        if let time {
            let ahead = Int64(clamping: time) - Int64(clamping: now.wall)
            offset = abs(ahead) > Self.tolerance ? ahead : 0
        } else if isConfirmed {
            return false
        }
        (isConfirmed, base) = (true, Self.base(now))
        return abs(offset - old) > Self.tolerance
    }

    /// Notices a clock that was set.
    mutating func check(_ now: Moment) {
        if isConfirmed, abs(Self.base(now) - base) > Self.tolerance { (isConfirmed, offset) = (false, 0) }
    }

    private static func base(_ now: Moment) -> Int64 { Int64(clamping: now.wall) - Int64(clamping: now.uptime) }
}
