public import Pushcrypt
package import PushcryptKeyStore

/// The user's response to a notification, as a value.
public struct NotificationResponseValue: Hashable, Sendable {
    /// The action that the user chose.
    public enum Action: Hashable, Sendable {
        /// The notification itself was tapped.
        case open
        /// The notification was dismissed; reported only for a category with `customDismissAction`.
        case dismiss
        /// One of the category's actions.
        case custom(String)

        private static let openIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
        private static let dismissIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

        /// Creates an action from the `actionIdentifier` of a response.
        package init(identifier: String) {
            switch identifier {
            case Self.openIdentifier: self = .open
            case Self.dismissIdentifier: self = .dismiss
            default: self = .custom(identifier)
            }
        }

        /// The identifier as in a response.
        package var identifier: String {
            switch self {
            case .open: Self.openIdentifier
            case .dismiss: Self.dismissIdentifier
            case .custom(let identifier): identifier
            }
        }
    }

    /// The source of `userInfo` and the category, as far as they show it.
    package enum Source: Hashable, Sendable {
        /// Set by the app or its extension: of an opened notification, of a fallback, which has none, or of a local
        /// one.
        case app
        /// From a push that the extension has not opened; `received(by:at:mayPass:keptAt:)` opens it.
        case sealed
        /// From a push that was never sealed: anyone on the way may have written it.
        case clear
    }

    /// The identifier of the notification's request.
    public var requestIdentifier: String
    /// The action that the user chose.
    public var action: Action
    /// The text the user entered, for an action with a text field.
    public var userText: String?
    /// The notification's `userInfo`, as the text of one JSON object.
    public var userInfo: ContiguousArray<UInt8>
    /// The notification's category.
    public var categoryIdentifier: String
    /// The account whose device key has opened the notification; nil if none has.
    package var account: String?
    /// The message that the notification shows, as a receiver has marked it.
    package var mark: MessageMark?

    /// Creates a response.
    public init(
        requestIdentifier: String, action: Action, userText: String? = nil,
        userInfo: ContiguousArray<UInt8> = NotificationContent.emptyUserInfo, categoryIdentifier: String = ""
    ) {
        self.requestIdentifier = requestIdentifier
        self.action = action
        self.userText = userText
        self.userInfo = userInfo
        self.categoryIdentifier = categoryIdentifier
    }

    /// The source of `userInfo`; `clear` if it is not a JSON object.
    ///
    /// The system keeps the `aps` of a push in its `userInfo`; an opened notification has only the app's own members of
    /// the sealed payload there.
    package var source: Source {
        guard let root = try? JSONDocument(parsing: userInfo).root, root.kind == .object else { return .clear }
        if root[PayloadKeys.encryptedData]?.string != nil { return .sealed }
        return root[PayloadKeys.aps] == nil ? .app : .clear
    }
}

// One object: {"version":1,"request":"…","action":"…","text":"…","user_info":"…","category":"…","account":"…","mark":"…"}.
// `user_info` is a string, because a nested object could exceed the depth limit of the JSON parser.
extension NotificationResponseValue {
    private static let version: Int64 = 1

    /// Parses a response as written by `json`; nil for anything else.
    init?(json: ContiguousArray<UInt8>) {
        guard let root = try? JSONDocument(parsing: json).root,
            root["version"]?.integer == Self.version, let request = root["request"]?.string,
            let action = root["action"]?.string, let userInfo = root["user_info"]?.string,
            let category = root["category"]?.string
        else { return nil }
        self.init(
            requestIdentifier: request, action: Action(identifier: action), userText: root["text"]?.string,
            userInfo: ContiguousArray(userInfo.utf8), categoryIdentifier: category)
        account = root["account"]?.string
        mark = root["mark"]?.string.map(MessageMark.init(text:))
    }

    /// The response as minified JSON, which `Responses` keeps for an app whose files are locked.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.string(requestIdentifier, for: "request")
            json.string(action.identifier, for: "action")
            if let userText { json.string(userText, for: "text") }
            json.string(String(decoding: userInfo, as: UTF8.self), for: "user_info")
            json.string(categoryIdentifier, for: "category")
            if let account { json.string(account, for: "account") }
            if let mark { json.string(mark.text, for: "mark") }
        }
        return json.bytes
    }
}

extension Responses.Kept {
    /// The user's response; nil for one that a later version of the app has kept, and that stays for it.
    package var value: NotificationResponseValue? { NotificationResponseValue(json: response) }
}

/// The user's response to a notification, with only the authentic part of that notification.
public struct ReceivedResponse: Hashable, Sendable {
    /// The source of the custom keys and the category.
    public enum Origin: Hashable, Sendable {
        /// The app or its service extension: of an opened notification, of a fallback, which has none, or of a local
        /// one.
        case app
        /// The sealed payload, opened for this response because the extension never did.
        case opened
        /// A push that was never sealed, which the app's policy lets pass.
        case passed
        /// None, because the push did not open, or was never sealed; they are empty.
        case unknown(Delivery.Reason)
    }

    /// The response. If the origin is unknown, the custom keys and the category are empty: anyone on the way may have
    /// written what the user saw, so the app should only open.
    public let value: NotificationResponseValue
    /// The source of the custom keys and the category.
    public let origin: Origin
    /// The account that the notification is for: the name of the device key that opened it. nil if none did.
    public var account: String? { value.account }
    /// When it was stored for later; nil if it is handled at once. A stored response may be delivered twice.
    public let keptAt: Timestamp?

    init(_ value: NotificationResponseValue, _ origin: Origin, keptAt: Timestamp?) {
        self.value = value
        self.origin = origin
        self.keptAt = keptAt
    }

    /// Whether the push did not open because the phone has not been unlocked since it started.
    public var waitsForUnlock: Bool {
        guard case .unknown(let reason) = origin else { return false }
        return reason.code == KeyStoreError.Code.storeLocked.description
    }
}

extension NotificationResponseValue {
    /// The response, if its notification was set by the app or its extension; nil for a push as it came.
    package var receivedIfAuthentic: ReceivedResponse? {
        source == .app ? ReceivedResponse(self, .app, keptAt: nil) : nil
    }

    /// Returns the authentic part of a response, after opening its push if that was never done.
    ///
    /// A message opened here counts as shown from then on, under the same request. The user responded to the clear
    /// part, which the relay may have written: an action of a category, and a text, become a mere tap.
    ///
    /// - Parameters:
    ///   - receiver: Opens the push; only evaluated if there is one to open.
    ///   - now: The present time.
    ///   - mayPass: Whether a push that was never sealed is accepted as it is.
    ///   - keptAt: When the response was stored, if it was.
    public func received(
        by receiver: @autoclosure () -> NotificationReceiver, at now: Timestamp, mayPass: Bool = false,
        keptAt: Timestamp? = nil
    ) -> ReceivedResponse {
        switch source {
        case .app: return ReceivedResponse(self, .app, keptAt: keptAt)
        case .clear where mayPass: return ReceivedResponse(self, .passed, keptAt: keptAt)
        case .clear: return unknown(Delivery.Reason(.notEncrypted), keptAt)
        case .sealed:
            let reception = receiver().receive(userInfo, requestID: requestIdentifier, at: now)
            let delivery = reception.delivery
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment, .dropped:
                var response = self
                // The user saw the clear part, which also offered the action: nobody agreed to the sealed one.
                if case .custom = action { (response.action, response.userText) = (.open, nil) }
                response.userInfo = delivery.content.userInfo
                response.categoryIdentifier = delivery.content.categoryIdentifier
                response.account = delivery.account
                response.mark = reception.mark
                return ReceivedResponse(response, .opened, keptAt: keptAt)
            case .fallback(let reason): return unknown(reason, keptAt)
            case .withdrawn:
                return unknown(
                    Delivery.Reason(code: delivery.code, description: "the provider has withdrawn the message"), keptAt
                )
            case .suppressed, .passed:
                return unknown(
                    Delivery.Reason(OpenError(.duplicate, "the message was already shown under another request")),
                    keptAt)
            }
        }
    }

    private func unknown(_ reason: Delivery.Reason, _ keptAt: Timestamp?) -> ReceivedResponse {
        var response = self
        response.userInfo = NotificationContent.emptyUserInfo
        response.categoryIdentifier = ""
        response.account = nil
        return ReceivedResponse(response, .unknown(reason), keptAt: keptAt)
    }
}
