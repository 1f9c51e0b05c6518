extension IOSScaffold {
    /// What happens when the app starts.
    var pushDelegate: ScaffoldFile {
        let declaration =
            categories.isEmpty ? "" : "\n        center.setNotificationCategories(NotificationCategories.all)"
        return ScaffoldFile(
            path: "App/PushDelegate.swift",
            text: #"""
                import UIKit
                import UserNotifications

                /// Starts notifications with the app.
                ///
                /// In an app with SwiftUI: `@UIApplicationDelegateAdaptor(PushDelegate.self) private var push`. An app that has a
                /// delegate takes these three methods into it.
                final class PushDelegate: NSObject, UIApplicationDelegate {
                    private let responses = NotificationResponses()

                    func application(
                        _ application: UIApplication,
                        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
                    ) -> Bool {
                        let center = UNUserNotificationCenter.current()
                        // Before this returns, or the tap that has started the app is lost.
                        center.delegate = responses\#(declaration)
                        center.requestAuthorization(options: [.alert, .badge, .sound]) { @Sendable _, _ in
                            // Also after a no, which the person can take back in Settings.
                            Task { @MainActor in UIApplication.shared.registerForRemoteNotifications() }
                        }
                        return true
                    }

                    func application(
                        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
                    ) {
                        UNUserNotificationCenter.current().getNotificationSettings { @Sendable settings in
                            let alertsAreShown = settings.alertSetting == .enabled
                            Task {
                                do {
                                    let done = try await PushRegistration.shared.update(
                                        pushToken: deviceToken, alertsAreShown: alertsAreShown)
                                    print("push registration: \(done)")
                                } catch {
                                    print("push registration, tried again at the next launch: \(error)")
                                }
                            }
                        }
                    }

                    func application(
                        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
                    ) {
                        print("no push token: \(error)")
                    }
                }

                """#)
    }

    /// What comes back from the person.
    var notificationResponses: ScaffoldFile {
        ScaffoldFile(
            path: "App/NotificationResponses.swift",
            text: #"""
                import UserNotifications

                /// Says what is shown while the app is in front, and hears what the person does with a notification.
                nonisolated final class NotificationResponses: NSObject, UNUserNotificationCenterDelegate {
                    func userNotificationCenter(
                        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
                        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
                    ) {
                        completionHandler([.banner, .list, .sound])
                    }

                    func userNotificationCenter(
                        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
                        withCompletionHandler completionHandler: @escaping () -> Void
                    ) {
                        // On every path: the system takes an app that forgets it for one that hangs.
                        defer { completionHandler() }
                        let content = response.notification.request.content
                        switch response.actionIdentifier {
                        case UNNotificationDefaultActionIdentifier:
                            // EDIT: show what the sealed payload names beside `aps`; nothing, when it could not be opened.
                            print("opened: \(content.userInfo)")
                        default:
                            // EDIT: the actions of your categories, and UNNotificationDismissActionIdentifier.
                            print("\(response.actionIdentifier): \(content.categoryIdentifier)")
                        }
                    }
                }

                """#)
    }

    /// What the app declares at launch.
    var notificationCategories: ScaffoldFile {
        let values = categories.map {
            """
                        UNNotificationCategory(
                            identifier: \(swiftLiteral($0)), actions: [], intentIdentifiers: [],
                            hiddenPreviewsBodyPlaceholder: "New message", options: [.customDismissAction]),
            """
        }
        return ScaffoldFile(
            path: "App/NotificationCategories.swift",
            text: #"""
                import UserNotifications

                /// The kinds of notification that have actions, a view of their own or a text for when previews are hidden. The sealed
                /// payload names one as `category`, letter by letter.
                nonisolated enum NotificationCategories {
                    static var all: Set<UNNotificationCategory> {
                        [
                \#(values.joined(separator: "\n"))
                        ]
                    }
                }

                """#)
    }
}
