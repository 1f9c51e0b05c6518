public import Pushcrypt
internal import PushcryptKeyStore

/// What a person did with a notification, as a value.
public struct NotificationResponseValue: Hashable, Sendable {
    /// What was done.
    public enum Action: Hashable, Sendable {
        /// The notification itself was tapped.
        case open
        /// It was dismissed; reported only for a category with `customDismissAction`.
        case dismiss
        /// One of the category's actions.
        case custom(String)

        private static let openIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
        private static let dismissIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

        /// Takes the `actionIdentifier` of a response.
        public init(identifier: String) {
            switch identifier {
            case Self.openIdentifier: self = .open
            case Self.dismissIdentifier: self = .dismiss
            default: self = .custom(identifier)
            }
        }

        /// As a response has it.
        public var identifier: String {
            switch self {
            case .open: Self.openIdentifier
            case .dismiss: Self.dismissIdentifier
            case .custom(let identifier): identifier
            }
        }
    }

    /// Where `userInfo` and the category come from, as far as they tell it themselves.
    public enum Source: Hashable, Sendable {
        /// The app or its extension has set them: of an opened notification, of a fallback, which has none, or of a local
        /// one.
        case app
        /// They came with a push that the extension has not opened: `received` does.
        case sealed
        /// They came with a push that was never sealed: anybody on the way may have written them.
        case clear
    }

    /// The notification's request.
    public var requestIdentifier: String
    /// What was done.
    public var action: Action
    /// What was written, for an action with a text field.
    public var userText: String?
    /// The notification's `userInfo`, as the text of one JSON object.
    public var userInfo: ContiguousArray<UInt8>
    /// The notification's category.
    public var categoryIdentifier: String

    /// Takes a response apart.
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

    /// Where `userInfo` comes from. What is no JSON object counts as `clear`.
    ///
    /// A push keeps its `aps` in the `userInfo` that the system makes of it; an opened notification has only the app's own
    /// members of the sealed payload there.
    public var source: Source {
        guard let root = try? JSONDocument(parsing: userInfo).root, root.kind == .object else { return .clear }
        if root[PayloadKeys.encryptedData]?.string != nil { return .sealed }
        return root[PayloadKeys.aps] == nil ? .app : .clear
    }
}

// One object: {"version":1,"request":"…","action":"…","text":"…","user_info":"…","category":"…"}. `user_info` is a string,
// because an object in another one might be nested deeper than JSON is read.
extension NotificationResponseValue {
    private static let version: Int64 = 1

    /// Reads what `json` has written; nil for anything else.
    init?(json: ContiguousArray<UInt8>) {
        guard let root = try? JSONDocument(parsing: json).root,
            root["version"]?.integer == Self.version, let request = root["request"]?.string,
            let action = root["action"]?.string, let userInfo = root["user_info"]?.string,
            let category = root["category"]?.string
        else { return nil }
        self.init(
            requestIdentifier: request, action: Action(identifier: action), userText: root["text"]?.string,
            userInfo: ContiguousArray(userInfo.utf8), categoryIdentifier: category)
    }

    /// The response as minified JSON.
    var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.string(requestIdentifier, for: "request")
            json.string(action.identifier, for: "action")
            if let userText { json.string(userText, for: "text") }
            json.string(String(decoding: userInfo, as: UTF8.self), for: "user_info")
            json.string(categoryIdentifier, for: "category")
        }
        return json.bytes
    }
}

/// What a person did with a notification, with no more of that notification than is authentic.
public struct ReceivedResponse: Hashable, Sendable {
    /// Where custom keys and category come from.
    public enum Origin: Hashable, Sendable {
        /// The app or its service extension: of an opened notification, of a fallback, which has none, or of a local one.
        case app
        /// The sealed payload, opened for this response, because the extension never did.
        case opened
        /// A push that was never sealed, and that the app's policy lets pass.
        case passed
        /// Nowhere, because the push did not open, or was never sealed; there are none.
        case unknown(Delivery.Reason)
    }

    /// What was done. Of an unknown origin, the custom keys and the category are empty: whatever the person saw and meant,
    /// anybody on the way may have written it, so there is nothing to do but to show the app.
    public let value: NotificationResponseValue
    /// Where custom keys and category come from.
    public let origin: Origin
    /// When it was kept for later; nil when it comes at once. What was kept may come twice.
    public let keptAt: Timestamp?

    /// Puts the parts together.
    init(_ value: NotificationResponseValue, _ origin: Origin, keptAt: Timestamp?) {
        self.value = value
        self.origin = origin
        self.keptAt = keptAt
    }

    /// Whether the push did not open because the phone was not unlocked since it started.
    public var waitsForUnlock: Bool {
        guard case .unknown(let reason) = origin else { return false }
        return reason.code == KeyStoreError.Code.storeLocked.description
    }
}

extension NotificationResponseValue {
    /// The response, if its notification is the app's or its extension's own; nil for a push as it came.
    public var receivedIfAuthentic: ReceivedResponse? {
        source == .app ? ReceivedResponse(self, .app, keptAt: nil) : nil
    }

    /// Gives what is authentic of a response, and opens its push first if that was never done.
    ///
    /// A message that is opened here counts as shown from then on, under the same request. What the person did was an answer
    /// to the clear part, which the relay may have written: an action of a category, and a text, become a mere tap.
    ///
    /// - Parameters:
    ///   - receiver: opens the push; made only when there is one to open.
    ///   - now: the present time.
    ///   - mayPass: whether a push that was never sealed is taken as it is.
    ///   - keptAt: when the response was kept, if it was.
    public func received(
        by receiver: @autoclosure () -> NotificationReceiver, at now: Timestamp, mayPass: Bool = false,
        keptAt: Timestamp? = nil
    ) -> ReceivedResponse {
        switch source {
        case .app: return ReceivedResponse(self, .app, keptAt: keptAt)
        case .clear where mayPass: return ReceivedResponse(self, .passed, keptAt: keptAt)
        case .clear: return unknown(Delivery.Reason(.notEncrypted), keptAt)
        case .sealed:
            let delivery = receiver().receive(userInfo, requestID: requestIdentifier, at: now).delivery
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment:
                var response = self
                // What the person saw, and what offered the action, was the clear part: nobody agreed to the sealed one.
                if case .custom = action { (response.action, response.userText) = (.open, nil) }
                response.userInfo = delivery.content.userInfo
                response.categoryIdentifier = delivery.content.categoryIdentifier
                return ReceivedResponse(response, .opened, keptAt: keptAt)
            case .fallback(let reason): return unknown(reason, keptAt)
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
        return ReceivedResponse(response, .unknown(reason), keptAt: keptAt)
    }
}
