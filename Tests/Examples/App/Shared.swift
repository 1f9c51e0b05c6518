import Foundation
import PushcryptApp
import UserNotifications

func pictures(of notification: UNNotification) -> [URL] {
    let shared = try? SharedAttachments(appGroup: "group.com.example", topic: Topic("com.example.app"))
    return shared?.files(of: notification.request) ?? []
}
