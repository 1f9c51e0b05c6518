public import Foundation

/// What came of a silent push.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// There was something new.
    case newData
    /// There was nothing new.
    case noData
    /// It failed.
    case failed
}

/// The running app.
@MainActor
open class UIApplication: UIResponder {
    /// Says why the app was started.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The key.
        public var rawValue: String
        /// Takes the key.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The payload of the push that somebody tapped.
        public static let remoteNotification = Self(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    }

    /// Where the app is.
    public enum State: Int, Sendable {
        /// In front and in use.
        case active
        /// In front and not in use.
        case inactive
        /// Not in front.
        case background
    }

    /// The app of this process.
    public static let shared = UIApplication()

    /// Who hears of the app's life; not kept alive.
    open weak var delegate: (any UIApplicationDelegate)?
    /// Where the app is. Set by whoever plays the system.
    open package(set) var applicationState = State.active
    /// Whether files that need the passcode can be read. Set by whoever plays the system.
    open package(set) var isProtectedDataAvailable = true
    /// Whether a device token was given.
    open private(set) var isRegisteredForRemoteNotifications = false
    /// What the app's call for a device token does; nothing, unless whoever plays the system sets it.
    package var onRegister: (@MainActor (UIApplication) -> Void)?

    /// Asks for a device token; the delegate hears the answer.
    open func registerForRemoteNotifications() { onRegister?(self) }

    /// Gives the device token back.
    open func unregisterForRemoteNotifications() { isRegisteredForRemoteNotifications = false }

    /// Answers the app's call with a token.
    package func finishRegistration(deviceToken: Data) {
        isRegisteredForRemoteNotifications = true
        delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    /// Answers the app's call with an error.
    package func failRegistration(_ error: any Error) {
        delegate?.application(self, didFailToRegisterForRemoteNotificationsWithError: error)
    }
}

/// The part of an app that hears of its life. Every method is optional: one that is left out does nothing.
///
/// Of a silent push there are two forms, and an app has one of them; call the one with a handler, which calls the other if that
/// is the one that is there.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// Hears that the app has started; false if it cannot open what it was started for.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Hears the device token.
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)

    /// Hears why there is no device token.
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// Hears a silent push, and must call the handler.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void)

    /// Hears a silent push.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// Hears that files that need the passcode can be read.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication)
}

extension UIApplicationDelegate {
    /// Says that the app has started.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// Does nothing.
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}

    /// Does nothing.
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}

    /// Leaves the push to the form without a handler.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        Task { completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo)) }
    }

    /// Says that there was nothing new.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }

    /// Does nothing.
    public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}
}
