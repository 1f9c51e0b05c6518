public import Foundation

/// The entry point of a notification service extension, which an app subclasses.
open class UNNotificationServiceExtension: NSObject {
    /// Makes an extension; the system does so when a push comes.
    public override init() { super.init() }

    /// Takes a push, and gives what is to be shown to the handler.
    ///
    /// This one gives the request's own content back at once. What Apple's does is not documented; either way the push is
    /// shown unchanged.
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// Hears, on another thread, that the time is almost over. This one does nothing.
    open func serviceExtensionTimeWillExpire() {}
}
