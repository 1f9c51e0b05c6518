public import Foundation
public import Pushcrypt
public import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

extension NotificationOpener {
    /// What an app says about its notifications.
    ///
    /// Topic, directory and keys are asked for when a push is there, on a thread of the opener's: whatever fails or hangs
    /// there ends in the fallback, or in a warning of the report, and stops no delivery. Not run on Apple systems.
    public struct Configuration: Sendable {
        /// What an app does to an opened notification before it is shown.
        public typealias Change =
            @Sendable (OpenedNotification, UNMutableNotificationContent) async throws -> UNNotificationContent

        /// The app's bundle id, not the extension's.
        public var topic: @Sendable () throws -> Topic
        /// The extension's own directory in the app group, where it remembers messages, sender rotations and how its
        /// deliveries ended; made if it is not there.
        public var directory: @Sendable () throws -> URL
        /// The device keys and the trusted senders; only read, and asked for again with each push.
        public var keys: @Sendable () throws -> any DeviceKeyReading

        /// What becomes of a message that was shown before. `suppress` is for an app with Apple's entitlement for filtering.
        public var duplicates = DuplicatePolicy.quiet
        /// The texts of the fallback.
        public var texts = FallbackTexts.standard
        /// Whether this push may be shown as it is although it is not sealed. Anyone on the way can make such a push; it is
        /// for the time in which a provider begins to seal. Masked by default.
        public var mayPassInTheClear: @Sendable (UNNotificationContent) -> Bool = { _ in false }
        /// How long a person waits.
        public var deadlines = DeliveryDeadlines()

        /// Changes what is shown, with what the app knows; nil for no change. When it throws, or is not done at the deadline,
        /// the opened content is shown without it. It gets a copy of its own, with the attachments.
        public var change: Change?
        /// Hears how each delivery ended, on a thread of the opener's; holds up a delivery for a fifth of a second at most.
        public var observe: (@Sendable (DeliveryReport) -> Void)?

        /// The largest sealed file that is fetched, in bytes; 50.1 MB, because the system shows films of up to 50 MB, and
        /// sealing one adds 13 kB.
        public var maximumAttachmentSize: UInt64 = 50_100_000
        /// Brings attachments.
        public var transport: any AttachmentTransport = URLSessionTransport()
        /// Whether a content extension gets plain copies of the attachments, as `SharedAttachments`; not unless the app says
        /// so, because they stay on the disk for a while.
        public var sharesAttachments = false

        /// Where attachments lie before the delivery.
        var attachmentFolder = AttachmentFolder()

        /// Calls at the deadlines.
        public var clock: any DeliveryClock = SystemClock()
        /// Says what time it is.
        public var now: @Sendable () -> Timestamp = { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

        /// Takes what every app has to say.
        ///
        ///     NotificationOpener.Configuration(topic: try Topic("com.example.app"), directory: folder) {
        ///         KeychainKeyStore(accessGroup: "ABCDE12345.com.example.keys")
        ///     }
        ///
        /// - Parameters:
        ///   - topic: the app's bundle id, evaluated when a push is there.
        ///   - directory: the extension's own directory, evaluated when a push is there.
        ///   - keys: gives the key store.
        public init(
            topic: @autoclosure @escaping @Sendable () throws -> Topic,
            directory: @autoclosure @escaping @Sendable () throws -> URL,
            keys: @escaping @Sendable () throws -> any DeviceKeyReading
        ) {
            self.topic = topic
            self.directory = directory
            self.keys = keys
        }

        /// Takes what every app has to say, with the directory `pushcrypt` of an app group.
        public init(
            topic: @autoclosure @escaping @Sendable () throws -> Topic, appGroup: String,
            keys: @escaping @Sendable () throws -> any DeviceKeyReading
        ) {
            self.topic = topic
            directory = { try AppGroup(identifier: appGroup).directory() }
            self.keys = keys
        }
    }
}
