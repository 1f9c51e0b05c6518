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
