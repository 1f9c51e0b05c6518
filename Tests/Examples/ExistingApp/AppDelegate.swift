import PushcryptApp
import UIKit

/// The app's own server.
nonisolated enum API {
    static func post(_ path: String, _ body: Data, as user: String?) async throws -> Data { body }
}

/// The app's delegate, with the two calls.
class AppDelegate: NSObject, UIApplicationDelegate {
    var user: String?

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        guard let user else { return }
        Task { print(await Push.accounts.update([user], token: deviceToken)) }
    }

    func logOut() async throws {
        guard let user else { return }
        // A token that comes now must not register the user again.
        self.user = nil
        try await Push.accounts.logOut(user)
    }
}
