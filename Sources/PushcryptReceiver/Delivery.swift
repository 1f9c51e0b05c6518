public import Pushcrypt
public import PushcryptKeyStore

/// What a person is shown for one push, and why.
///
/// Every push ends in exactly one of these. An opened notification is a function of the sealed payload alone; a fallback
/// keeps the clear title and sound, and nothing else. (`Docs/Format.md`, Opened notification and fallback)
public struct Delivery: Sendable {
    /// The text that stands in for content: Apple's sample extension uses the same.
    public static let encryptedText = "(Encrypted)"

    /// How it went.
    public enum Outcome: Sendable {
        /// The sealed notification is shown.
        case opened(OpenedNotification)
        /// The fallback is shown; the reason is for the developer only.
        case fallback(Reason)
    }

    /// Why a fallback is shown.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// What programs read: the code of an `OpenError`, or of the key store's error.
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
    /// The first line.
    public let title: String
    /// The second line.
    public let subtitle: String
    /// The text.
    public let body: String
    /// Whether a sound is played.
    public let hasSound: Bool
    /// Whether it is put into the list without lighting the screen, as what was shown before is.
    public let isPassive: Bool

    /// Shows an opened notification.
    public init(opened: OpenedNotification, hasSound: Bool = true, isPassive: Bool = false) {
        outcome = .opened(opened)
        title = opened.title ?? ""
        subtitle = opened.subtitle ?? ""
        body = opened.body ?? ""
        self.hasSound = hasSound && opened.hasSound
        self.isPassive = isPassive
    }

    /// Shows the fallback: subtitle `(Encrypted)` and an empty body; body `(Encrypted)` for a push that was not sealed.
    public init(fallback reason: Reason, for push: ReceivedPush?) {
        let isSealed = reason.code != OpenError.Code.notEncrypted.description
        outcome = .fallback(reason)
        title = push?.clearTitle ?? ""
        subtitle = isSealed ? Self.encryptedText : ""
        body = isSealed ? "" : Self.encryptedText
        hasSound = push?.hasClearSound ?? false
        isPassive = false
    }
}
