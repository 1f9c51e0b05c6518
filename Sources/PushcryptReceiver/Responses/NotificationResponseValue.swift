internal import Pushcrypt

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
