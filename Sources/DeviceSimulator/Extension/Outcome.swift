/// What has become of one push.
public struct Outcome: Hashable, Sendable, CustomStringConvertible {
    /// Whose content a person is shown.
    public enum Source: String, Hashable, Sendable {
        /// What the extension delivered.
        case delivered
        /// The push as it came.
        case original
        /// Nobody's: nothing is shown.
        case nothing
    }

    /// Names the notification: the collapse id, otherwise the push's own id.
    public let requestIdentifier: String
    /// Why the extension did not run; nil if it did.
    public let skipped: SkipReason?
    /// Whose content is shown.
    public let source: Source
    /// What is seen and heard; nil for nothing at all.
    public let shown: Shown?
    /// How many times the content handler was called so far.
    public let deliveries: Int
    /// How many of these calls came after the time was over.
    public let lateDeliveries: Int
    /// How many milliseconds passed before the first of them; nil if there was none.
    public let milliseconds: UInt64?
    /// Whether the system called `serviceExtensionTimeWillExpire()`.
    public let isExpired: Bool
    /// What the extension did wrong so far.
    public let faults: [Fault]
    /// What happened, for people: one line each, with the time since the push came.
    public let trace: [String]

    /// The trace as one text.
    public var description: String { trace.joined(separator: "\n") }
}
