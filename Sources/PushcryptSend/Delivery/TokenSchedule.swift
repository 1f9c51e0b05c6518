/// Decides when a provider token is created again: after 40 minutes, and not within 20.
///
/// APNs refuses a token that is older than an hour, and new ones more often than every 20 minutes. All connections share one.
final class TokenSchedule {
    static let renewal: UInt64 = 40 * 60 * 1000
    static let rest: UInt64 = 20 * 60 * 1000

    /// The number of tokens that were created.
    private(set) var generation = 0
    private var renewAt: UInt64 = 0
    /// Whether the first token is one that an earlier process created.
    private var isKept = false
    /// When a token was last created because APNs called its predecessor expired.
    private var replacedAt: UInt64?

    /// Begins with a token of an earlier process, so many milliseconds old.
    func keep(age: UInt64, at now: Moment) {
        create(at: now)
        isKept = true
        renewAt -= min(age, Self.renewal)
    }

    /// The number of the token to use now.
    func current(at now: Moment) -> Int {
        if generation == 0 || now.uptime >= renewAt { create(at: now) }
        return generation
    }

    /// Whether a token comes from an earlier process, which may have had another key.
    func isKept(_ token: Int) -> Bool { isKept && token == 1 }

    /// Takes note that APNs refuses a token; returns whether a later one should be tried.
    func hasExpired(_ token: Int, at now: Moment) -> Bool {
        if token < generation { return true }
        if let replacedAt, now.uptime < replacedAt + Self.rest { return false }
        replacedAt = now.uptime
        create(at: now)
        return true
    }

    /// Makes the next token a new one.
    func renew(at now: Moment) { renewAt = now.uptime }

    private func create(at now: Moment) {
        generation += 1
        renewAt = now.uptime + Self.renewal
    }
}
