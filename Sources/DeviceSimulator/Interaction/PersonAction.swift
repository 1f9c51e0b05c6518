/// What a person does with a notification.
public enum PersonAction: Hashable, Sendable {
    /// Taps it, which opens the app.
    case tap
    /// Takes it away.
    case dismiss
    /// Chooses an action of its category.
    case choose(String)
    /// Writes under an action that takes text.
    case write(String, action: String)
}

/// Why the app does not hear of what a person did.
public struct UnheardReason: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    private enum Known: String, CaseIterable {
        case notListed = "not-listed"
        case notOffered = "not-offered"
        case noTextInput = "no-text-input"
        case dismissNotReported = "dismiss-not-reported"
        case locked = "locked"
        case noDelegate = "no-delegate"
        case keptByContentExtension = "kept-by-content-extension"
    }

    private let known: Known

    /// There is no such notification in the list.
    public static let notListed = UnheardReason(known: .notListed)
    /// The notification's category is not declared, or has no such action.
    public static let notOffered = UnheardReason(known: .notOffered)
    /// The action takes no text, or takes nothing but text.
    public static let noTextInput = UnheardReason(known: .noTextInput)
    /// The category lacks `.customDismissAction`, so that dismissals are not reported.
    public static let dismissNotReported = UnheardReason(known: .dismissNotReported)
    /// The device asks for the passcode first: unlock it.
    public static let locked = UnheardReason(known: .locked)
    /// The app has set no delegate of its notification center.
    public static let noDelegate = UnheardReason(known: .noDelegate)
    /// The content extension has dealt with it.
    public static let keptByContentExtension = UnheardReason(known: .keptByContentExtension)

    /// Every reason.
    public static var allCases: [UnheardReason] { Known.allCases.map(UnheardReason.init(known:)) }

    /// The reason as programs read it, for example `dismiss-not-reported`.
    public var description: String { known.rawValue }
}

/// What has become of what a person did.
public struct ResponseOutcome: Hashable, Sendable {
    /// Why the app did not hear of it; nil if it did.
    public let unheard: UnheardReason?
    /// How many times the app's delegate called the completion handler; exactly once is right.
    public let completions: Int
    /// Whether the app comes to the foreground.
    public let opensApp: Bool

    /// Says what became of it, for tests to compare with.
    public init(unheard: UnheardReason? = nil, completions: Int = 0, opensApp: Bool = false) {
        self.unheard = unheard
        self.completions = completions
        self.opensApp = opensApp
    }
}
