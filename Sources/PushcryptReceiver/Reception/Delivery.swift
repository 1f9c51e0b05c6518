public import Pushcrypt
package import PushcryptKeyStore

/// The notification shown for one push, and the reason for it.
///
/// Every push ends in exactly one delivery. An opened notification depends on the sealed payload alone; a fallback
/// keeps the clear title, shortened, and the clear sound, and nothing else. (`Docs/Format.md`, Opened notification and fallback)
public struct Delivery: Sendable {
    /// The outcome of a delivery; for logs and tests, never for the user.
    public enum Outcome: Hashable, Sendable, CustomStringConvertible {
        /// The sealed notification was shown, with its full body and all its attachments.
        case opened
        /// The sealed notification was shown; an attachment or its full body was missing, late or damaged.
        case openedWithoutAttachment
        /// The push was not sealed, and was shown as it came because the app's policy allows it.
        case passed
        /// Nothing was shown, because the message was shown before.
        case suppressed
        /// The message was withdrawn before it was shown: nothing is shown, or a quiet fallback.
        case withdrawn
        /// The message is not to be shown: nothing is shown, or the sealed notification quietly.
        case dropped
        /// The fallback was shown.
        case fallback(Reason)

        /// Every outcome, each with its own code.
        package static let all: [Outcome] =
            [.opened, .openedWithoutAttachment, .passed, .suppressed, .withdrawn, .dropped]
            + Reason.all.map(Outcome.fallback)

        /// The code as programs read it: `opened`, `opened-without-attachment`, `passed`, `suppressed`, `withdrawn`,
        /// `dropped`, or the code of the reason.
        public var description: String {
            switch self {
            case .opened: "opened"
            case .openedWithoutAttachment: "opened-without-attachment"
            case .passed: "passed"
            case .suppressed: "suppressed"
            case .withdrawn: "withdrawn"
            case .dropped: "dropped"
            case .fallback(let reason): reason.code
            }
        }
    }

    /// The reason a fallback is shown; for the developer only.
    public struct Reason: Error, Hashable, CustomStringConvertible {
        /// The code as programs read it: that of an `OpenError` or a `KeyStoreError`, or one that only deliveries have.
        public let code: String
        /// A description of what happened, and what to do.
        public let description: String

        /// Creates a reason of the caller's choice.
        package init(code: String, description: String) {
            self.code = code
            self.description = description
        }

        /// Creates a reason from an error of an opener.
        package init(_ error: OpenError) {
            self.init(code: error.code.description, description: error.description)
        }

        /// Creates a reason from an error of a key store, for example one that cannot be opened.
        package init(_ error: KeyStoreError) {
            self.init(code: error.code.description, description: error.description)
        }

        static func translate<R>(_ body: () throws(OpenError) -> R) throws(Delivery.Reason) -> R {
            do throws(OpenError) {
                return try body()
            } catch {
                throw Delivery.Reason(error)
            }
        }
    }

    /// The outcome.
    public let outcome: Outcome
    /// The opened notification; nil unless the push was opened and is shown.
    public let opened: OpenedNotification?
    /// The content shown.
    public let content: NotificationContent
    /// When the message was sealed, even if it is not shown; nil for a push that did not open.
    package private(set) var sentAt: Timestamp?
    /// Whether the message has rung before.
    package private(set) var isRepeated = false
    /// The account whose device key opened the message; nil for a push that did not open.
    package internal(set) var account: String?

    /// Whether nothing is shown.
    package let isHidden: Bool

    private init(
        _ outcome: Outcome, _ opened: OpenedNotification? = nil, _ content: NotificationContent, isHidden: Bool = false
    ) {
        self.isHidden = isHidden
        self.outcome = outcome
        self.opened = opened
        self.content = content
        sentAt = opened?.sentAt
    }

    /// Creates the delivery of an opened notification; `quietly` if it has rung before, and always for one that is not to
    /// be shown. A quiet duplicate has no category.
    package init(opened: OpenedNotification, quietly: Bool = false) {
        var content = NotificationContent(payload: opened.root)
        if quietly || opened.isDropped {
            content = content.quiet
            if opened.isDuplicate { content.categoryIdentifier = "" }
        }
        self.init(opened.isDropped ? .dropped : .opened, opened, content)
        isRepeated = quietly
    }

    /// Creates the fallback: a subtitle and an empty body, or, for a push that was not sealed, a body.
    package init(fallback reason: Reason, for push: IncomingPush?, texts: FallbackTexts = .standard) {
        var content = NotificationContent()
        content.title = texts.title(insteadOf: push?.clear.title ?? "")
        content.sound = push?.clear.sound?.uncritical
        if reason.code == OpenError.Code.notEncrypted.description {
            content.body = texts.notEncrypted
        } else {
            content.subtitle = texts.couldNotOpen
        }
        self.init(.fallback(reason), nil, content)
    }

    /// Creates the delivery of a push as it came, but for a critical sound.
    package init(passing push: IncomingPush) {
        var content = push.clear
        content.sound = content.sound?.uncritical
        self.init(.passed, nil, content)
    }

    /// The delivery that shows nothing.
    static let suppressed = Delivery(.suppressed, nil, NotificationContent(), isHidden: true)

    /// Creates the delivery of a message that was withdrawn: nothing if it may be hidden, otherwise a quiet fallback.
    static func withdrawn(_ push: IncomingPush, mayHide: Bool, texts: FallbackTexts) -> Delivery {
        if mayHide { return Delivery(.withdrawn, nil, NotificationContent(), isHidden: true) }
        let fallback = Delivery(fallback: Delivery.Reason(code: "withdrawn", description: ""), for: push, texts: texts)
        return Delivery(.withdrawn, nil, fallback.content.quiet)
    }

    /// Creates the delivery of a message that is not to be shown: nothing if it may be hidden, otherwise quiet.
    static func dropped(_ opened: OpenedNotification, isRepeated: Bool, mayHide: Bool) -> Delivery {
        guard mayHide else { return Delivery(opened: opened, quietly: isRepeated) }
        var delivery = Delivery(.dropped, opened, NotificationContent(), isHidden: true)
        delivery.isRepeated = isRepeated
        return delivery
    }

    /// Returns the same delivery, because of this message.
    func recording(_ opened: OpenedNotification) -> Delivery {
        var delivery = self
        delivery.sentAt = opened.sentAt
        return delivery
    }

    /// Returns the same delivery with the full body instead of the short one.
    package func extended(by fullBody: String) -> Delivery {
        var content = content
        content.body = .plain(fullBody)
        return Delivery(outcome, opened, content)
    }

    /// The code for a journal: that of the outcome.
    public var code: String { outcome.description }
}

// MARK: Reasons that are neither the push's nor the keys'

extension Delivery.Reason {
    /// The app that the push is for is unknown.
    package static let noTopic = Delivery.Reason(
        code: "no-topic", description: "neither the caller nor the device key names the app the push is for")

    /// The receiver's own deadline passed.
    package static let deadline = Delivery.Reason(
        code: "deadline", description: "the push was not opened before the receiver's deadline")

    /// The system ended the extension's time.
    package static let systemExpired = Delivery.Reason(
        code: "system-expired", description: "the system ended the extension's time before the push was opened")

    /// The session was released.
    package static let abandoned = Delivery.Reason(
        code: "abandoned", description: "the session was released before the push was opened")

    /// Every one of them.
    package static let all = [noTopic, deadline, systemExpired, abandoned]
}
