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
public struct Fault: Hashable, Sendable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case neverDelivered = "never-delivered"
        case deliveredTwice = "delivered-twice"
        case deliveredLate = "delivered-late"
        case changedAfterDelivery = "changed-after-delivery"
        case emptyWithoutEntitlement = "empty-without-entitlement"
        case userInfoNotPropertyList = "user-info-not-property-list"
    }

    private let known: Known

    /// The content handler was not called in time: the user saw the push as received.
    package static let neverDelivered = Fault(known: .neverDelivered)
    /// The content handler was called more than once.
    package static let deliveredTwice = Fault(known: .deliveredTwice)
    /// The content handler was called after the time was over.
    package static let deliveredLate = Fault(known: .deliveredLate)
    /// The content was changed after delivery. Whether the user sees the change is a matter of chance.
    package static let changedAfterDelivery = Fault(known: .changedAfterDelivery)
    /// The content is empty, and the app lacks the entitlement for that: the user saw the push as received.
    package static let emptyWithoutEntitlement = Fault(known: .emptyWithoutEntitlement)
    /// `userInfo` has a value that no property list has, such as a JSON null: the user saw the push as received.
    package static let userInfoNotPropertyList = Fault(known: .userInfoNotPropertyList)

    /// Every fault.
    package static var allCases: [Fault] { Known.allCases.map(Fault.init(known:)) }

    /// The fault for programs, for example `delivered-twice`.
    public var description: String { known.rawValue }
}
