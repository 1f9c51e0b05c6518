internal import Pushcrypt
internal import PushcryptKeyStore
public import UserNotifications

/// The service extension of an app that has no other: a subclass says which app it is and where its keys are.
///
///     nonisolated final class NotificationService: EncryptedNotificationService {
///         override var configuration: NotificationOpener.Configuration {
///             .init(topic: try Topic("com.example.app"), appGroup: "group.com.example") {
///                 KeychainKeyStore(accessGroup: "ABCDE12345.com.example.keys")
///             }
///         }
///     }
///
/// `nonisolated` is needed where the target isolates to the main actor by default: the system calls an extension away from it.
/// An extension with another base class makes a `NotificationOpener` and hands both calls on to it. Not run on Apple
/// systems.
open class EncryptedNotificationService: UNNotificationServiceExtension {
    private final class State {
        var opener: NotificationOpener?
    }

    private let state = Locked(State())

    /// What the app says about its notifications; read once, when the first push is there. Without an override, every push
    /// ends in the fallback.
    open var configuration: NotificationOpener.Configuration {
        .init(topic: try Topic(""), appGroup: "") { throw KeyStoreError.notConfigured }
    }

    /// Takes a push over from the system; the handler is called exactly once, on any thread.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        opener.handle(request, contentHandler: contentHandler)
    }

    /// Shows the best there is now, for each push that is under way.
    open override func serviceExtensionTimeWillExpire() { opener.timeWillExpire() }

    private var opener: NotificationOpener {
        state.withLock { state in
            if let opener = state.opener { return opener }
            let opener = NotificationOpener(configuration)
            state.opener = opener
            return opener
        }
    }
}

extension KeyStoreError {
    fileprivate static let notConfigured = KeyStoreError(
        .storeMissing, "the subclass of EncryptedNotificationService does not override `configuration`")
}
