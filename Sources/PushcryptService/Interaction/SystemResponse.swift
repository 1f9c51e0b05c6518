internal import Foundation
internal import Pushcrypt
public import PushcryptReceiver
public import UserNotifications

// What a person did, taken from what the system says. Not run on Apple systems.

extension NotificationResponseValue {
    /// Takes the system's response apart.
    ///
    /// Of a local notification whose `userInfo` is no JSON, nothing of it is taken.
    public init(_ response: UNNotificationResponse) {
        let request = response.notification.request
        self.init(
            requestIdentifier: request.identifier, action: Action(identifier: response.actionIdentifier),
            userText: (response as? UNTextInputNotificationResponse)?.userText,
            userInfo: CustomKeys.json(request.content.userInfo),
            categoryIdentifier: request.content.categoryIdentifier)
    }

    /// The custom keys as the system would have them.
    public var customKeys: [AnyHashable: Any] { CustomKeys.dictionary(userInfo) }
}

/// Custom keys as JSON and as Foundation has them.
enum CustomKeys {
    /// The text of one JSON object. What cannot be JSON gives an empty object, or, with the marks of a push, no text at all,
    /// which nobody takes for the app's own.
    static func json(_ userInfo: [AnyHashable: Any]) -> ContiguousArray<UInt8> {
        // Foundation traps for what is not valid.
        guard let object = userInfo as? [String: Any], JSONSerialization.isValidJSONObject(object),
            let data = try? JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
        else {
            let isPush = userInfo[PayloadKeys.aps] != nil || userInfo[PayloadKeys.encryptedData] != nil
            return isPush ? [] : NotificationContent.emptyUserInfo
        }
        return ContiguousArray(data)
    }

    static func dictionary(_ json: ContiguousArray<UInt8>) -> [AnyHashable: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data(json))
        return object as? [AnyHashable: Any] ?? [:]
    }
}
