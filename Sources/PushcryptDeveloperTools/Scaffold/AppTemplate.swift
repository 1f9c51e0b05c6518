extension IOSScaffold {
    /// The app's start.
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
                /// In an app with SwiftUI: `@UIApplicationDelegateAdaptor(PushDelegate.self) private var push`. An app that has a
                /// delegate takes these four methods into it.
                final class PushDelegate: NSObject, UIApplicationDelegate {
                    /// Kept here, because the center keeps no delegate alive.
                    private let responder = NotificationResponses.responder()

                    func application(
                        _ application: UIApplication,
                        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
                    ) -> Bool {
                        let center = UNUserNotificationCenter.current()
                        // Before this returns, or the tap that has started the app is lost.
                        center.delegate = responder\#(categories.isEmpty ? "" : declaration)
                        replayKeptResponses()
                        center.requestAuthorization(options: [.alert, .badge, .sound]) { @Sendable _, _ in
                            // Also after a no, which the person can take back in Settings.
                            Task { @MainActor in UIApplication.shared.registerForRemoteNotifications() }
                        }
                        return true
                    }

                    func application(
                        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
                    ) {
                        // EDIT: in an app with a log-in, return here while nobody is logged in, and call
                        // `registerForRemoteNotifications()` again after a log-in: this makes a key and registers it.
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

                    /// Does what a response asks for. `.later` gives it again, for example when files of the app's are still locked.
                    private static func handle(_ response: ReceivedResponse) async throws -> NotificationResponder.Answer {
                        // Nothing in them but what was sealed, or set by the app; `response.origin` says why there are none.
                        let keys = response.value.customKeys
                        switch response.value.action {
                        case .open:
                            // EDIT: show what the custom keys name.
                            print("opened, with \(keys.count) custom keys: \(response.origin)")
                        case .custom(let action):
                            // EDIT: the actions of your categories; `response.value.userText` is what was written.
                            print("\(action), with \(keys.count) custom keys: \(response.origin)")
                        case .dismiss:
                            // EDIT: what follows from a dismissal, if anything does.
                            break
                        }
                        return .done
                    }

                    /// Opens a push that the extension did not get to as the extension would have.
                    static var configuration: NotificationResponder.Configuration {
                        let opening = NotificationServiceHandler.Configuration(
                            topic: try Topic("\#(topic)"), appGroup: PushRegistration.appGroup.identifier
                        ) { try SharedKeyStore.open() }
                        var configuration = NotificationResponder.Configuration(opening: opening) {
                            guard let key = try SharedKeyStore.open().deviceKeys(named: nil).last else {
                                throw NotRegistered()
                            }
                            return key.publicKey
                        }
                        configuration.observe = { report in
                            if let problem = report.problem { print("response \(report.outcome.rawValue): \(problem)") }
                        }
                        return configuration
                    }

                    struct NotRegistered: Error, CustomStringConvertible {
                        var description: String { "this phone has no key to keep a response with" }
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

                /// The kinds of notification that have actions, a view of their own or a text for when previews are hidden. The sealed
                /// payload names one as `category`, letter by letter.
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
