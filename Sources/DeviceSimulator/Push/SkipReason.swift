/// Why the service extension did not run for a push: the first reason that applies.
public struct SkipReason: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case payloadTooLarge = "payload-too-large"
        case notJSON = "not-json"
        case badCollapseID = "bad-collapse-id"
        case notAlertPush = "not-alert-push"
        case silent = "silent"
        case soundOnly = "sound-only"
        case badgeOnly = "badge-only"
        case noAlertText = "no-alert-text"
        case notMutable = "not-mutable"
        case notPermitted = "not-permitted"
        case alertsOff = "alerts-off"
        case noExtension = "no-extension"
    }

    private let known: Known

    /// Apple refuses the push: it has more than 4096 bytes of JSON, or 5120 for `voip`.
    public static let payloadTooLarge = SkipReason(known: .payloadTooLarge)
    /// Apple refuses the push: it is not a JSON object.
    public static let notJSON = SkipReason(known: .notJSON)
    /// Apple refuses the push: its collapse id has more than 64 bytes, or none.
    public static let badCollapseID = SkipReason(known: .badCollapseID)
    /// The push is not of type `alert`: it goes to the app.
    public static let notAlertPush = SkipReason(known: .notAlertPush)
    /// The push has neither alert nor sound nor badge.
    public static let silent = SkipReason(known: .silent)
    /// The push has a sound and no alert.
    public static let soundOnly = SkipReason(known: .soundOnly)
    /// The push has a badge and neither alert nor sound.
    public static let badgeOnly = SkipReason(known: .badgeOnly)
    /// The alert has no title, subtitle or body.
    public static let noAlertText = SkipReason(known: .noAlertText)
    /// `mutable-content` is not the number 1.
    public static let notMutable = SkipReason(known: .notMutable)
    /// The person has not allowed the app's notifications.
    public static let notPermitted = SkipReason(known: .notPermitted)
    /// The person has switched alerts off.
    public static let alertsOff = SkipReason(known: .alertsOff)
    /// The app has no service extension.
    public static let noExtension = SkipReason(known: .noExtension)

    /// Every reason.
    public static var allCases: [SkipReason] { Known.allCases.map(SkipReason.init(known:)) }

    /// Whether Apple's servers refuse such a push, so that it never reaches a phone.
    public var isRefusal: Bool { [.payloadTooLarge, .notJSON, .badCollapseID].contains(self) }

    /// The reason as programs read it, for example `not-mutable`.
    public var description: String { known.rawValue }
}
