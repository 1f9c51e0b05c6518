/// Decides when a provider token is created again: after 40 minutes, and not within 20.
///
/// APNs refuses a token that is older than an hour, and new ones more often than every 20 minutes. All connections share one.
final class TokenSchedule {
    static let renewal: UInt64 = 40 * 60 * 1000
    static let rest: UInt64 = 20 * 60 * 1000

    /// The number of tokens that were created.
    private(set) var generation = 0
    private var createdAt: UInt64 = 0
    /// When a token was last created because APNs called its predecessor expired.
    private var replacedAt: UInt64?

    /// The number of the token to use now.
    func current(at now: Moment) -> Int {
        if generation == 0 || now.uptime >= createdAt + Self.renewal { create(at: now) }
        return generation
    }

    /// Takes note that APNs calls a token expired; returns whether a later one should be tried.
    func hasExpired(_ token: Int, at now: Moment) -> Bool {
        if token < generation { return true }
        if let replacedAt, now.uptime < replacedAt + Self.rest { return false }
        replacedAt = now.uptime
        create(at: now)
        return true
    }

    private func create(at now: Moment) {
        generation += 1
        createdAt = now.uptime
    }
}
