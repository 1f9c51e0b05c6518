/// Something that a service extension must not do, and did.
public struct Fault: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case neverDelivered = "never-delivered"
        case deliveredTwice = "delivered-twice"
        case deliveredLate = "delivered-late"
        case changedAfterDelivery = "changed-after-delivery"
        case emptyWithoutEntitlement = "empty-without-entitlement"
    }

    private let known: Known

    /// The content handler was not called in time: the person saw the push as it came.
    public static let neverDelivered = Fault(known: .neverDelivered)
    /// The content handler was called more than once.
    public static let deliveredTwice = Fault(known: .deliveredTwice)
    /// The content handler was called after the time was over.
    public static let deliveredLate = Fault(known: .deliveredLate)
    /// The content was changed after it was delivered; whether a person sees the change is up to chance.
    public static let changedAfterDelivery = Fault(known: .changedAfterDelivery)
    /// The content has nothing to read, and the app lacks the entitlement for that: the person saw the push as it came.
    public static let emptyWithoutEntitlement = Fault(known: .emptyWithoutEntitlement)

    /// Every fault.
    public static var allCases: [Fault] { Known.allCases.map(Fault.init(known:)) }

    /// The fault as programs read it, for example `delivered-twice`.
    public var description: String { known.rawValue }
}
