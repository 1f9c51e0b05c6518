internal import Pushcrypt
internal import PushcryptKeyStore
public import UserNotifications

/// The principal class of a service extension. A subclass provides the app's configuration.
///
///     nonisolated final class NotificationService: EncryptedNotificationService {
///         override var configuration: NotificationServiceHandler.Configuration {
///             .init(topic: try Topic("com.example.app"), appGroup: "group.com.example") {
///                 KeychainDeviceStore(accessGroup: "ABCDE12345.com.example.keys", topic: try Topic("com.example.app"))
///             }
///         }
///     }
///
/// Write `nonisolated` if the target isolates to the main actor by default: the system calls an extension on other
/// threads. An extension with a different base class creates a `NotificationServiceHandler` and forwards both calls to
/// it. Not run on Apple systems.
open class EncryptedNotificationService: UNNotificationServiceExtension {
    private final class State {
        var handler: NotificationServiceHandler?
    }

    private let state = Locked(State())

    /// The app's configuration, read once, when the first push arrives. If it is not overridden, every push ends in the
    /// fallback.
    open var configuration: NotificationServiceHandler.Configuration {
        .init(topic: try Topic(""), appGroup: "", keys: { throw KeyStoreError.notConfigured })
    }

    /// Opens a push. The content handler is called exactly once, on any thread.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        handler.handle(request, contentHandler: contentHandler)
    }

    /// Delivers the best content available now for each push in progress.
    open override func serviceExtensionTimeWillExpire() { handler.timeWillExpire() }

    private var handler: NotificationServiceHandler {
        state.withLock { state in
            if let handler = state.handler { return handler }
            let handler = NotificationServiceHandler(configuration: configuration)
            state.handler = handler
            return handler
        }
    }
}

extension KeyStoreError {
    fileprivate static let notConfigured = KeyStoreError(
        .storeMissing, "the subclass of EncryptedNotificationService does not override `configuration`")
}
