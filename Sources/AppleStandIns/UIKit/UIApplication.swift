public import Foundation

/// The result of a silent push.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// New data.
    case newData
    /// No data.
    case noData
    /// Failure.
    case failed
}

/// The running app.
@MainActor
open class UIApplication: UIResponder {
    /// A key of the launch options.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The raw key.
        public var rawValue: String
        /// Creates a key.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The app of this process.
    public static let shared = UIApplication()

    /// The app delegate; a weak reference.
    open weak var delegate: (any UIApplicationDelegate)?
    /// Called when the app requests a device token. Does nothing unless the simulated system sets it.
    package var onRegister: (@MainActor (UIApplication) -> Void)?

    /// Requests a device token. The delegate receives the answer.
    open func registerForRemoteNotifications() { onRegister?(self) }

    /// Answers the app's request with a token.
    package func finishRegistration(deviceToken: Data) {
        delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    /// Answers the app's request with an error.
    package func failRegistration(_ error: any Error) {
        delegate?.application(self, didFailToRegisterForRemoteNotificationsWithError: error)
    }
}

/// The app delegate. Every method is optional: a missing one does nothing.
///
/// The method for a silent push has two forms, and an app has one of them. Call the form with a handler, which calls
/// the async form if the app has that one.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// Called when the app has started. Returns false if it cannot open the URL that it was started for.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Called with the device token.
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)

    /// Called if there is no device token.
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// Called for a silent push. Must call the completion handler.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// Called for a silent push.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// Called when protected data becomes available.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication)
}

extension UIApplicationDelegate {
    /// Returns true.
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

    /// Calls the async form.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task { completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo)) }
    }

    /// Returns `noData`.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }

    /// Does nothing.
    public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}
}
