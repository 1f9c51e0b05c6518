/// The times that a message carries, and when a receiver takes it. (`Docs/Format.md`, Freshness)
package enum Freshness {
    /// The longest time to live, and the default: 30 days, in seconds, as long as Apple keeps a push.
    package static let maximumTimeToLive: UInt32 = 2_592_000

    /// How far ahead of a receiver's clock a message may be: 24 hours, in milliseconds, because phones have wrong clocks.
    package static let clockTolerance: UInt64 = 86_400_000

    /// Checks the two fields of a message against the receiver's clock.
    static func check(sentAt: Timestamp, timeToLive: UInt32, now: Timestamp) throws(OpenError) {
        guard (1...maximumTimeToLive).contains(timeToLive), sentAt <= .maximum else {
            throw OpenError(
                .unsupportedMessage, "the message's times are out of range: its sender is not up to this format")
        }
        guard now <= sentAt.adding(seconds: UInt64(timeToLive)) else {
            throw OpenError(
                .expired,
                "the message was sent \(sentAt) and lived for \(timeToLive) seconds; check this clock (\(now))")
        }
        guard sentAt <= now.adding(milliseconds: clockTolerance) else {
            throw OpenError(
                .notYetValid,
                "the message says it was sent \(sentAt), more than a day from now; check both clocks (\(now) here)")
        }
    }
}
