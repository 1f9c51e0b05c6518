public import Foundation
public import Pushcrypt
public import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

/// Opens the pushes of a notification service extension, whatever the base class of the extension.
///
///     let handler = NotificationServiceHandler(configuration: configuration)
///     handler.handle(request, contentHandler: contentHandler)    // in didReceive(_:withContentHandler:)
///     handler.timeWillExpire()                                   // in serviceExtensionTimeWillExpire()
///
/// For each call of `handle`, the content handler is called exactly once, whatever happens: at the latest when the
/// deadline passes, when the system's time ends, or when this object is released. Any number of requests may be in
/// progress, in any number of objects. Every method may be called on any thread, and waits for no key and no network, and
/// at most a second for the disk. No lock is held while a content handler runs.
///
/// See `Docs/Format.md`, Opened notification and fallback. Not run on Apple systems.
public final class NotificationServiceHandler: Sendable {
    /// The pushes that were not given out yet.
    final class InProgress: Sendable {
        private struct State {
            var pushes: [ObjectIdentifier: OnePush] = [:]
            /// How many calls of `timeWillExpire` are running.
            var rescues = 0
        }

        private let state = Locked(State())

        fileprivate var pushes: [OnePush] { state.withLock { Array($0.pushes.values) } }

        fileprivate func add(_ push: OnePush) { state.withLock { $0.pushes[ObjectIdentifier(push)] = push } }

        fileprivate func rescue(_ body: () -> Void) {
            state.withLock { $0.rescues += 1 }
            defer { state.withLock { $0.rescues -= 1 } }
            body()
        }

        /// Forgets a push that is given out. Returns whether that rescues it: the system's time is over.
        func forget(_ push: OnePush) -> Bool {
            state.withLock { state in
                state.pushes[ObjectIdentifier(push)] = nil
                return state.rescues > 0
            }
        }
    }

    private let configuration: Configuration
    private let files: ServiceFiles
    private let inProgress = InProgress()

    /// Creates a handler. Reads nothing before the first push.
    public init(configuration: Configuration) {
        self.configuration = configuration
        files = ServiceFiles(configuration)
    }

    deinit { for push in inProgress.pushes { push.end(.released) } }

    /// Opens a push and passes the content to show to `contentHandler`, exactly once, on any thread.
    public func handle(_ request: UNNotificationRequest, contentHandler: @escaping (UNNotificationContent) -> Void) {
        let push = OnePush(request, configuration, files, in: inProgress, contentHandler)
        inProgress.add(push)
        push.start()
    }

    /// Delivers the best content available now for every request in progress.
    public func timeWillExpire() {
        inProgress.rescue { for push in inProgress.pushes { push.end(.expired) } }
    }
}

/// The facts of a delivery for the app's change, besides the opened notification.
public struct DeliveryContext: @unchecked Sendable {
    // A request is immutable.

    /// The system's request. Its content is the push as it came, which anyone on the way may have written: it may have the
    /// ids of a relay's SDK, and nothing to show.
    public let request: UNNotificationRequest
    /// The account that the message is for: the name that ``PushAccounts`` was given. Its device key has opened the message.
    public let account: String
    /// The replay guard's finding about the message: new, again under this request, a copy, or too old to tell.
    public let verdict: ReplayVerdict
    /// Whether the message was not shown before, so that it rings unless another delivery is faster.
    public let isFirst: Bool
}

extension NotificationServiceHandler {
    /// An app's settings for opening its notifications.
    ///
    /// `topic`, `directory` and `keys` are evaluated when a push arrives, on a thread of the handler: if one fails or
    /// hangs, the result is the fallback or a warning in the report, and delivery is not blocked. Not run on Apple
    /// systems.
    public struct Configuration: Sendable {
        /// A change that the app makes to an opened notification before it is shown.
        public typealias Change =
            @Sendable (OpenedNotification, UNMutableNotificationContent, DeliveryContext) async throws ->
            UNNotificationContent

        /// The bundle id of the app, not of the extension.
        public var topic: @Sendable () throws -> Topic
        /// The extension's own directory in the app group, for its database: replay guard, answers, journal.
        /// Created if it does not exist.
        public var directory: @Sendable () throws -> URL
        /// The device's state: keys, and what each account trusts; read again for each push. What an opened message changes is
        /// stored there, and after the delivery retired keys that ended more than a day before the message was sealed are
        /// deleted.
        public var keys: @Sendable () throws -> any DeviceStore

        /// How a message that has rung under another request is delivered. `suppress` needs Apple's filtering entitlement.
        public var duplicates = DuplicatePolicy.quiet
        /// Whether the extension has the entitlement `com.apple.developer.usernotifications.filtering`: withdrawn and
        /// dropped messages are then hidden, and quiet otherwise. Without the entitlement the system shows the push.
        public var hasFilteringEntitlement = false
        /// Whether each push also removes the notifications of expired messages: their text then does not lie in the system's
        /// list. A message expires when its time to live ends (`seal --ttl`), which also limits how late it may arrive.
        public var removesExpired = false
        /// The texts of the fallback.
        public var texts = FallbackTexts.standard
        /// Whether to show this push as received although it is not sealed. By default its text is masked.
        ///
        /// Anyone on the path can forge such a push. Use this only while a provider is moving to sealed pushes.
        public var mayPassInTheClear: @Sendable (UNNotificationContent) -> Bool = { _ in false }
        /// How long the user waits for a notification.
        public var deadlines = DeliveryDeadlines()

        /// Shows the name and face of the sender, if a payload has one; nil to show none.
        public var senders: SenderDisplay?

        /// Changes the content to show, using what the app knows; nil for no change.
        ///
        /// It gets a separate copy of the content, attachments included, also of a message that was shown before; the
        /// context says if it was, and has the system's request. If it throws or is not done at the deadline,
        /// the opened content is shown unchanged.
        public var change: Change?
        /// Receives a report of each delivery, on a thread of its own: those of several deliveries may come at once. Delays a
        /// delivery by at most 200 ms.
        public var observe: (@Sendable (DeliveryReport) -> Void)?

        /// The largest sealed file to fetch, in bytes. The default is 50.1 MB: the system shows films of up to 50 MB,
        /// and sealing one adds 13 kB.
        public var maximumAttachmentSize: UInt64 = 50_100_000
        /// The transport that downloads attachments.
        public var transport: any AttachmentTransport = URLSessionTransport()
        /// Whether a content extension gets plain copies of the attachments, as `SharedAttachments`. Off by default,
        /// because the copies stay on disk for a while.
        public var sharesAttachments = false

        /// The folder of attachments before delivery.
        var attachmentFolder = AttachmentFolder()

        /// The clock for deadlines, and for the wait for a report.
        public var clock: any DeliveryClock = SystemClock()
        /// The current time.
        public var now: @Sendable () -> Timestamp = { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

        /// Creates a configuration with the settings that every app must provide.
        ///
        ///     NotificationServiceHandler.Configuration(topic: try Topic("com.example.app"), directory: folder) {
        ///         KeychainDeviceStore(accessGroup: "ABCDE12345.com.example.keys", topic: try Topic("com.example.app"))
        ///     }
        ///
        /// - Parameters:
        ///   - topic: The bundle id of the app, evaluated when a push arrives.
        ///   - directory: The extension's own directory, evaluated when a push arrives.
        ///   - keys: Returns the device's store.
        public init(
            topic: @autoclosure @escaping @Sendable () throws -> Topic,
            directory: @autoclosure @escaping @Sendable () throws -> URL,
            keys: @escaping @Sendable () throws -> any DeviceStore
        ) {
            self.topic = topic
            self.directory = directory
            self.keys = keys
        }

        /// Creates a configuration that uses the app's directory in an app group. Without arguments, it has what Xcode
        /// writes into the app: right in every variant of an app that has its own bundle id or groups.
        ///
        /// - Parameters:
        ///   - topic: The bundle id of the app, evaluated when a push arrives; by default that of the app that contains this
        ///     extension.
        ///   - appGroup: The identifier of the app group; by default what the extension's property list has under
        ///     `PushcryptAppGroup`.
        ///   - keys: Returns the device's store; by default the ``SharedKeyStore``.
        public init(
            topic: @autoclosure @escaping @Sendable () throws -> Topic? = nil, appGroup: String? = nil,
            keys: (@Sendable () throws -> any DeviceStore)? = nil
        ) {
            let app = ContainingApp()
            let ownTopic: @Sendable () throws -> Topic = { try topic() ?? app.topic() }
            self.topic = ownTopic
            directory = {
                try AppGroup(identifier: try appGroup ?? app.appGroupIdentifier(), topic: try ownTopic()).directory()
            }
            self.keys = keys ?? { try SharedKeyStore.open(for: try ownTopic()) }
        }

        /// Shows pushes without `ENCRYPTED_DATA` as they are until a moment, while a provider is moving to sealed pushes; sets
        /// `mayPassInTheClear`.
        ///
        /// A push with `ENCRYPTED_DATA` that does not open is the fallback, before that moment too. Until then anyone on the
        /// path can have any text shown.
        public mutating func passInTheClear(until end: Date) {
            let (now, end) = (now, Timestamp(secondsSince1970: end.timeIntervalSince1970))
            mayPassInTheClear = { _ in now() < end }
        }
    }
}
