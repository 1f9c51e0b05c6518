/// The outcome of one push.
public struct Outcome: Hashable, Sendable, CustomStringConvertible {
    /// The origin of the content that the user is shown.
    public enum Source: String, Hashable, Sendable {
        /// The content that the extension delivered.
        case delivered
        /// The push as received.
        case original
        /// Nothing is shown.
        case nothing
    }

    /// The identifier of the notification: the collapse id, otherwise the id of the push.
    public let requestIdentifier: String
    /// The reason that the extension did not run; nil if it ran.
    public let skipped: SkipReason?
    /// The origin of the shown content.
    public let source: Source
    /// The presentation; nil if nothing is visible or audible.
    public let shown: Shown?
    /// The number of calls of the content handler so far.
    public let deliveries: Int
    /// The number of these calls after the time was over.
    package let lateDeliveries: Int
    /// The milliseconds before the first call; nil if there was none.
    public let milliseconds: UInt64?
    /// Whether the system called `serviceExtensionTimeWillExpire()`.
    package let isExpired: Bool
    /// The faults of the extension so far.
    public let faults: [Fault]
    /// The events for people to read, one line each, with the time since arrival.
    public let trace: [String]

    /// The trace, one event per line.
    public var description: String { trace.joined(separator: "\n") }
}

/// A violation of the system's rules by a service extension.
public enum Fault: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The content handler was not called in time: the user saw the push as received.
    case neverDelivered = "never-delivered"
    /// The content handler was called more than once.
    case deliveredTwice = "delivered-twice"
    /// The content handler was called after the time was over.
    case deliveredLate = "delivered-late"
    /// The content was changed after delivery. Whether the user sees the change is a matter of chance.
    case changedAfterDelivery = "changed-after-delivery"
    /// The content is empty, and the app lacks the entitlement for that: the user saw the push as received.
    case emptyWithoutEntitlement = "empty-without-entitlement"
    /// `userInfo` has a value that no property list has, such as a JSON null: the user saw the push as received.
    case userInfoNotPropertyList = "user-info-not-property-list"

    /// The fault for programs, for example `delivered-twice`.
    public var description: String { rawValue }
}
