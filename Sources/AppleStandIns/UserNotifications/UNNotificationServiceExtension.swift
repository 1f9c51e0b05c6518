public import Foundation

/// The principal class of a notification service extension. An app subclasses it.
open class UNNotificationServiceExtension: NSObject {
    /// Creates an extension. The system does this when a push arrives.
    public override init() { super.init() }

    /// Processes a push and passes the content to show to the handler.
    ///
    /// This one immediately returns the request's content. Apple's implementation is not documented; either way the
    /// push is shown unchanged.
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// Called on another thread when the time is almost over. This one does nothing.
    open func serviceExtensionTimeWillExpire() {}
}
