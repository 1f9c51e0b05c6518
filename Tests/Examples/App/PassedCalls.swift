import Foundation
import Pushcrypt
import PushcryptService

/// Whether the extension passes a message on as a call. The sealed payload says so, and nothing else in the push.
@Sendable func isCall(_ message: OpenedNotification) -> Bool {
    let payload = try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
    return payload?["call"] != nil
}
