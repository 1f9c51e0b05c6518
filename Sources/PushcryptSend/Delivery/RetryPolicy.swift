/// How long a message, a connection or the next connection waits.
struct RetryPolicy {
    /// In milliseconds.
    static let shortest: UInt64 = 1000
    static let longest: UInt64 = 15 * 60 * 1000

    /// Returns a number from 0 to 1.
    var random: () -> Double = { Double.random(in: 0...1) }

    /// The pause before the next attempt, after `count` that failed: from 1 s, doubled up to 15 minutes, of which a random part
    /// of up to a half is left out, so that many messages do not come back at once. `minimum`, which APNs
    /// asks for, counts up to 15 minutes.
    func pause(after count: Int, atLeast minimum: UInt64? = nil) -> UInt64 {
        let full = min(Self.longest, Self.shortest << UInt64(min(20, max(0, count - 1))))
        let part = UInt64(Double(full) * (1 - random() / 2))
        return max(part, min(minimum ?? 0, Self.longest), Self.shortest / 2)
    }
}
