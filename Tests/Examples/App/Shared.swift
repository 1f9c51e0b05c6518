import Foundation
import PushcryptApp
import UserNotifications

func pictures(of notification: UNNotification) -> [URL] {
    let shared = try? SharedAttachments(in: .ofThisApp())
    return shared?.files(of: notification.request) ?? []
}
