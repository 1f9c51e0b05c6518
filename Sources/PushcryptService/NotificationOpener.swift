internal import PushcryptKeyStore
internal import PushcryptReceiver
public import UserNotifications

/// Opens the pushes of a notification service extension, whatever the extension's base class is.
///
///     let opener = NotificationOpener(configuration)
///     opener.handle(request, contentHandler: contentHandler)     // in didReceive(_:withContentHandler:)
///     opener.timeWillExpire()                                    // in serviceExtensionTimeWillExpire()
///
/// For each call of `handle` the content handler is called exactly once, whatever happens: at the latest when the deadline
/// passes, the system's time ends, or the opener goes. Any number of requests may be under way, in any number of openers, and
/// every method may be called from any thread; none waits for a key, a disk or a network. No lock is held when a handler is
/// called. (`Docs/Format.md`, Opened notification and fallback) Not run on Apple systems.
public final class NotificationOpener: Sendable {
    private typealias Session = DeliverySession<UNNotificationContent>

    private final class UnderWay {
        var sessions: [ObjectIdentifier: Session] = [:]
    }

    private let configuration: Configuration
    private let files: OpenerFiles
    private let log: DeliveryLog
    private let underWay = Locked(UnderWay())

    /// Makes an opener; nothing is read before the first push.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        files = OpenerFiles(configuration)
        log = DeliveryLog(files, observe: configuration.observe)
    }

    deinit { for session in sessions { session.handle(.released) } }

    /// Opens a push, and gives what is to be shown to the handler: exactly once, on any thread.
    public func handle(_ request: UNNotificationRequest, contentHandler: @escaping (UNNotificationContent) -> Void) {
        let work = DeliveryWork(request, configuration, files, log)
        let steps = DeliverySteps(
            open: work.open, attach: work.attach, stopAttaching: work.stopAttaching, change: work.change,
            fallback: work.fallback,
            deliver: { [weak underWay] content, outcome in
                underWay?.withLock { _ = $0.sessions.removeValue(forKey: ObjectIdentifier(work)) }
                work.finish(outcome)
                contentHandler(content)
            })
        let session = Session(
            deadlines: configuration.deadlines, clock: configuration.clock, freeze: { $0.frozen }, steps: steps)
        work.session = session
        underWay.withLock { $0.sessions[ObjectIdentifier(work)] = session }
        session.receive()
    }

    /// Shows the best there is now of every request that is under way.
    public func timeWillExpire() {
        for session in sessions { session.handle(.expired) }
    }

    private var sessions: [Session] { underWay.withLock { Array($0.sessions.values) } }
}
