import UIKit
import UserNotifications
import UserNotificationsUI

/// A delegate with the async forms; not on the main actor, because a response cannot be sent there.
class AsyncDelegate: NSObject, UNUserNotificationCenterDelegate {
    var log: [String] = []

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        return [.banner, .badge]
    }

    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
        await Task.yield()
        log.append(response.actionIdentifier)
    }
}

/// An app that handles silent pushes asynchronously.
class AsyncApp: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        return userInfo.isEmpty ? .noData : .newData
    }
}

/// A content extension that handles its responses asynchronously.
class AsyncViewController: UIViewController, UNNotificationContentExtension {
    func didReceive(_ notification: UNNotification) {}

    nonisolated func didReceive(
        _ response: UNNotificationResponse
    ) async -> UNNotificationContentExtensionResponseOption {
        let action = response.actionIdentifier
        await MainActor.run { title = action }
        return .dismiss
    }
}
