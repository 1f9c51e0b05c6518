internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
public import UserNotifications
internal import os

/// The principal class of a service extension. An empty subclass is a complete extension:
///
///     nonisolated final class NotificationService: EncryptedNotificationService {}
///
/// The topic is then the bundle id of the app that contains the extension, and its property list names both groups, under
/// `PushcryptAppGroup` and `PushcryptKeychainGroup`. Xcode replaces variables there, so variants of an app with their own
/// bundle ids and groups share the same sources.
///
/// Write `nonisolated` if the target isolates to the main actor by default: the system calls an extension on other
/// threads. An extension with a different base class creates a `NotificationServiceHandler` and forwards both calls to
/// it. Not run on Apple systems.
open class EncryptedNotificationService: UNNotificationServiceExtension {
    private let made = Locked<NotificationServiceHandler?>(nil)

    /// The app's configuration, read once, when the first push arrives. This one has the app's texts for the key
    /// `(Encrypted)`, and writes a line without content into the system's log for each delivery, with the app's bundle id as
    /// subsystem and the category `push`. An override begins with `super.configuration`.
    open var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration()
        configuration.texts = .localized
        let log = Logger(subsystem: (try? configuration.topic().bundleID) ?? "pushcrypt", category: "push")
        configuration.observe = { log.info("\($0, privacy: .public)") }
        return configuration
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
        made.withLock { made in
            if let made { return made }
            let handler = NotificationServiceHandler(configuration: configuration)
            made = handler
            return handler
        }
    }
}
