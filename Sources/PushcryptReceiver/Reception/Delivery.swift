public import Pushcrypt
public import PushcryptKeyStore

/// What a person is shown for one push, and why.
///
/// Every push ends in exactly one of these. An opened notification is a function of the sealed payload alone; a fallback
/// keeps the clear title and sound, and nothing else. (`Docs/Format.md`, Opened notification and fallback)
public struct Delivery: Sendable {
    /// How it went.
    public enum Outcome: Sendable {
        /// The sealed notification is shown.
        case opened(OpenedNotification)
        /// The push was not sealed, and is shown as it came, as the app's policy says.
        case passed
        /// Nothing is shown, because the message was shown before.
        case suppressed
        /// The fallback is shown; the reason is for the developer only.
        case fallback(Reason)
    }

    /// Why a fallback is shown.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// What programs read: the code of an `OpenError` or of the key store's error, or one of a delivery's own.
        public let code: String
        /// What happened, and what to do.
        public let description: String

        /// Takes a reason of the caller's.
        public init(code: String, description: String) {
            self.code = code
            self.description = description
        }

        /// Takes what an opener threw.
        public init(_ error: OpenError) {
            self.init(code: error.code.description, description: error.description)
        }

        /// Takes what a key store threw, for example one that cannot be opened.
        public init(_ error: KeyStoreError) {
            self.init(code: error.code.description, description: error.description)
        }
    }

    /// How it went.
    public let outcome: Outcome
    /// What is shown.
    public let content: NotificationContent

    /// Shows an opened notification; quietly when it is one that was shown before.
    public init(opened: OpenedNotification, quietly: Bool = false) {
        let content = NotificationContent(payload: opened.root)
        outcome = .opened(opened)
        self.content = quietly ? content.quiet : content
    }

    /// Shows the fallback: a subtitle and an empty body, or, for a push that was not sealed, a body.
    public init(fallback reason: Reason, for push: IncomingPush?, texts: FallbackTexts = .standard) {
        var content = NotificationContent()
        content.title = push?.clear.title ?? ""
        content.sound = push?.clear.sound
        if reason.code == OpenError.Code.notEncrypted.description {
            content.body = texts.notEncrypted
        } else {
            content.subtitle = texts.couldNotOpen
        }
        outcome = .fallback(reason)
        self.content = content
    }

    /// Shows a push as it came.
    package init(passing push: IncomingPush) {
        outcome = .passed
        content = push.clear
    }

    private init(_ outcome: Outcome, _ content: NotificationContent) {
        self.outcome = outcome
        self.content = content
    }

    /// The same delivery with the full body in place of the short one.
    package func extended(by fullBody: String) -> Delivery {
        var content = content
        content.body = .plain(fullBody)
        return Delivery(outcome, content)
    }

    /// Shows nothing.
    static let suppressed = Delivery(.suppressed, NotificationContent())

    /// What a journal says of it: `opened`, `passed`, `suppressed`, or why there is a fallback.
    public var code: String {
        let outcome: DeliveryOutcome =
            switch outcome {
            case .opened: .opened
            case .passed: .passed
            case .suppressed: .suppressed
            case .fallback(let reason): .fallback(reason)
            }
        return outcome.description
    }
}
