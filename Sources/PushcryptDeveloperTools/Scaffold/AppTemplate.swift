extension IOSScaffold {
    /// The app itself, to be replaced by the developer's.
    var notificationsApp: ScaffoldFile {
        ScaffoldFile(
            path: "App/NotificationsApp.swift",
            text: """
                import SwiftUI

                /// EDIT: your app, which needs the line of the delegate.
                @main struct NotificationsApp: SwiftUI.App {
                    @UIApplicationDelegateAdaptor(PushDelegate.self) private var push

                    var body: some Scene {
                        WindowGroup {
                            Button("Allow notifications") { PushDelegate.askForPermission() }
                        }
                    }
                }

                """)
    }

    /// The app's code at launch.
    var pushDelegate: ScaffoldFile {
        let declaration = """

                    do {
                        try NotificationCategories.declared.register(on: center)
                    } catch {
                        print("no categories, so no actions: \\(error)")
                    }
            """
        return ScaffoldFile(
            path: "App/PushDelegate.swift",
            text: #"""
                import PushcryptService
                import UIKit
                import UserNotifications

                /// Starts notifications with the app.
                ///
                /// If the app has a delegate, add these methods to it.
                final class PushDelegate: NSObject, UIApplicationDelegate {
                    /// Stored here, because the center does not retain its delegate.
                    private let responder = NotificationResponses.responder()

                    func application(
                        _ application: UIApplication,
                        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
                    ) -> Bool {
                        let center = UNUserNotificationCenter.current()
                        // Before this returns: otherwise the tap that started the app is lost.
                        center.delegate = responder\#(categories.isEmpty ? "" : declaration)
                        replayKeptResponses()
                        // Needs no permission.
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
                        // EDIT: in an app with a log-in, return here while no user is logged in, and call
                        // `registerForRemoteNotifications()` again after a log-in: this creates a key and registers it.
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

                    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) { replayKeptResponses() }

                    private func replayKeptResponses() {
                        Task { await responder.replayKept() }
                    }
                }

                """#)
    }

    /// The user's responses.
    var notificationResponses: ScaffoldFile {
        ScaffoldFile(
            path: "App/NotificationResponses.swift",
            text: #"""
                import Pushcrypt
                import PushcryptKeyStore
                import PushcryptReceiver
                import PushcryptService

                /// Handles the user's response to a notification.
                nonisolated enum NotificationResponses {
                    /// The delegate of the notification center.
                    static func responder() -> NotificationResponder {
                        NotificationResponder(configuration: configuration) { try await handle($0) }
                    }

                    /// Handles a response. `.later` delivers it again, for example if files of the app are still locked.
                    private static func handle(_ response: ReceivedResponse) async throws -> NotificationResponder.Answer {
                        // Only sealed keys, or those that the app has set; `response.origin` says why there are none.
                        let keys = response.value.customKeys
                        switch response.value.action {
                        case .open:
                            // EDIT: show the content that the custom keys name.
                            print("opened, with \(keys.count) custom keys: \(response.origin)")
                        case .custom(let action):
                            // EDIT: the actions of your categories; `response.value.userText` is the user's text.
                            print("\(action), with \(keys.count) custom keys: \(response.origin)")
                        case .dismiss:
                            // EDIT: handle a dismissal, if necessary.
                            break
                        }
                        return .done
                    }

                    /// Opens a push that the extension did not open, in the same way.
                    static var configuration: NotificationResponder.Configuration {
                        let opening = NotificationServiceHandler.Configuration(
                            topic: try Topic("\#(topic)"), appGroup: PushRegistration.appGroup.identifier
                        ) { try SharedKeyStore.open() }
                        var configuration = NotificationResponder.Configuration(opening: opening)
                        configuration.observe = { report in
                            if let problem = report.problem { print("response \(report.outcome.rawValue): \(problem)") }
                        }
                        return configuration
                    }
                }

                """#)
    }

    /// The app's categories, declared at launch.
    var notificationCategories: ScaffoldFile {
        let values = categories.map {
            """
                            CategoryDeclaration(
                                \(swiftLiteral($0)),
                                hiddenPreviewsBodyPlaceholder: .localized(key: "New message", arguments: []),
                                options: [.customDismissAction]),
            """
        }
        return ScaffoldFile(
            path: "App/NotificationCategories.swift",
            text: #"""
                import PushcryptReceiver

                /// The kinds of notification with actions, a separate view or a text for hidden previews. The sealed payload has the
                /// exact name of one as `category`.
                nonisolated enum NotificationCategories {
                    static var declared: CategorySet {
                        get throws {
                            try CategorySet([
                \#(values.joined(separator: "\n"))
                            ])
                        }
                    }
                }

                """#)
    }
}
