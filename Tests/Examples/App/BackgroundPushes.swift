import PushcryptApp
import UIKit

final class BackgroundPushes: NSObject, UIApplicationDelegate {
    private let pushes: AppPushes

    /// UIKit needs a delegate with init(): let yours hold this, and forward the push.
    init(_ pushes: AppPushes) { self.pushes = pushes }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        switch await pushes.open(userInfo) {
        case .opened: .newData  // do what it says
        case .repeated, .unopened: .noData
        }
    }
}
