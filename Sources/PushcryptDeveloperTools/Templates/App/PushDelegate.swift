import PushcryptApp
import UIKit
import UserNotifications
import os

/// Starts notifications with the app. If the app has a delegate, do the same there.
final class PushDelegate: NSObject, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        // Before this returns: otherwise the tap that started the app is lost.
        center.delegate = Push.responder
        NotificationCategories.register(on: center)  // IF categories
        replayKeptResponses()
        // Needs no permission. Call it again after a log-in, and when the app comes to the foreground: what has failed is tried again,
        // and nothing is sent that the provider knows.
        application.registerForRemoteNotifications()
        return true
    }

    /// Asks whether notifications may be shown. Call it when the user sees a reason, such as the first chat.
    static func askForPermission() {
        let options: UNAuthorizationOptions = [.alert, .badge, .sound]
        UNUserNotificationCenter.current().requestAuthorization(options: options) { @Sendable _, _ in
            // Also after a refusal: tells the provider whether alerts are shown.
            Task { @MainActor in UIApplication.shared.registerForRemoteNotifications() }
        }
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        Task { await Push.update(deviceToken) }
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        Push.log.error("no push token: \(String(describing: error), privacy: .public)")
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
        replayKeptResponses()
        application.registerForRemoteNotifications()
    }

    private func replayKeptResponses() {
        Task { await Push.responder.replayKept() }
    }
}
