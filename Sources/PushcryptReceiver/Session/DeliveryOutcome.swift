/// How a delivery ended; for logs and tests, never for the person.
public enum DeliveryOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The sealed notification was shown, with its full body and every attachment that it has.
    case opened
    /// The sealed notification was shown, and an attachment, or its full body, was missing, late or damaged.
    case openedWithoutAttachment
    /// The push was not sealed, and was shown as it came, as the app's policy says.
    case passed
    /// Nothing was shown, because the message was shown before.
    case suppressed
    /// The fallback was shown.
    case fallback(Delivery.Reason)

    /// Every outcome that has a code of its own.
    package static let all: [DeliveryOutcome] =
        [.opened, .openedWithoutAttachment, .passed, .suppressed] + Delivery.Reason.all.map(DeliveryOutcome.fallback)

    /// The code as programs read it: `opened`, `opened-without-attachment`, `passed`, `suppressed`, or the reason's.
    public var description: String {
        switch self {
        case .opened: "opened"
        case .openedWithoutAttachment: "opened-without-attachment"
        case .passed: "passed"
        case .suppressed: "suppressed"
        case .fallback(let reason): reason.code
        }
    }
}
