import DeviceSimulator
import UserNotifications

// Typical extensions with their usual faults. Written for these tests.

/// Delivers on failure, then continues to the delivery on success.
final class FallsThroughExtension: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let content = UNMutableNotificationContent()
        content.title = request.content.title
        if request.content.userInfo["ENCRYPTED_DATA"] as? String == nil {
            content.body = "New message"
            contentHandler(content)
        }
        content.body = "Opened"
        contentHandler(content)
    }
}

/// Fetches a picture, and delivers both from the thread that is done and from the one that was told of the end.
final class TwoThreadsExtension: UNNotificationServiceExtension, @unchecked Sendable {
    private let clock: SimulatedClock
    private var contentHandler: ((UNNotificationContent) -> Void)?
    private var content: UNNotificationContent?

    init(clock: SimulatedClock) {
        self.clock = clock
        super.init()
    }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        content = request.content
        clock.sleep(for: 30.5)
        contentHandler(request.content)
    }

    override func serviceExtensionTimeWillExpire() {
        guard let content else { return }
        contentHandler?(content)
    }
}

/// On an error, does not call the handler.
final class SilentExtension: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
}

/// Gives the system a null, which JSON has and a property list has not.
final class NullExtension: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let content = UNMutableNotificationContent()
        content.title = "Opened"
        content.userInfo = ["list": [1, NSNull()]]
        contentHandler(content)
    }
}
