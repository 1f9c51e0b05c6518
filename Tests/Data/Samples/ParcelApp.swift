import UIKit
import UserNotifications

/// The app's side: permission, registration, categories at launch, and responses.
class ParcelApp: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    var window: UIWindow?
    var token: String?
    var registrationError: Error?
    var log: [String] = []

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, _ in
            guard granted else { return }
            DispatchQueue.main.async { UIApplication.shared.registerForRemoteNotifications() }
        }
        declareCategories(center)
        return true
    }

    private func declareCategories(_ center: UNUserNotificationCenter) {
        let accept = UNNotificationAction(identifier: "ACCEPT", title: "Accept", options: [])
        let later = UNNotificationAction(
            identifier: "LATER", title: "Later", options: [.authenticationRequired],
            icon: UNNotificationActionIcon(systemImageName: "clock"))
        let note = UNTextInputNotificationAction(
            identifier: "NOTE", title: "Note", options: [], textInputButtonTitle: "Send",
            textInputPlaceholder: "For the courier")
        let parcel = UNNotificationCategory(
            identifier: "PARCEL", actions: [accept, later, note], intentIdentifiers: [],
            hiddenPreviewsBodyPlaceholder: "A parcel", categorySummaryFormat: "%u more parcels",
            options: [.customDismissAction, .hiddenPreviewsShowTitle])
        center.setNotificationCategories([parcel])
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        token = deviceToken.map { String(format: "%02x", $0) }.joined()
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error) {
        registrationError = error
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        guard notification.request.content.categoryIdentifier == "PARCEL" else { return completionHandler([]) }
        completionHandler([.banner, .list, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let number = response.notification.request.content.userInfo["PARCEL_ID"] as? String ?? "?"
        switch response.actionIdentifier {
        case "ACCEPT":
            log.append("accept \(number)")
        case "NOTE":
            let text = (response as? UNTextInputNotificationResponse)?.userText ?? ""
            log.append("note for \(number): \(text)")
        case UNNotificationDefaultActionIdentifier:
            log.append("open \(number)")
        case UNNotificationDismissActionIdentifier:
            log.append("dismiss \(number)")
        default:
            log.append("\(response.actionIdentifier) \(number)")
        }
        completionHandler()
    }
}

/// An app without any optional method.
class SilentApp: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {}
