internal import Dispatch
public import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver

/// Opens pushes that the system gives to the app itself: background pushes, and calls.
///
/// Uses the same files and keys as the service extension. Any thread may call it. Not run on Apple systems.
public final class AppPushes: Sendable {
    /// The outcome of a push.
    public enum Opened: Sendable {
        /// It opened, for the first time.
        case opened(OpenedNotification)
        /// It opened, and did before: the app has done what it asks for.
        case repeated(OpenedNotification)
        /// It did not open, not in time, was sealed for another kind of push, or was withdrawn. Nothing in it is authentic.
        case unopened(Delivery.Reason)
    }

    private let configuration: NotificationServiceHandler.Configuration
    private let files: ServiceFiles
    private let list = NotificationList()
    private static let queue = DispatchQueue(label: "pushcrypt.app", qos: .userInitiated, attributes: .concurrent)

    /// Creates a value with the extension's configuration.
    public init(configuration: NotificationServiceHandler.Configuration) {
        self.configuration = configuration
        files = ServiceFiles(configuration)
    }

    /// Opens a background push: the `userInfo` of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`. The
    /// messages that it withdraws are then off the screen. Only a push sealed as `background` opens: an alert with
    /// `content-available` comes here too, and is `unopened` with the code `wrong-push-class`; the extension opens it.
    public nonisolated(nonsending) func open(
        _ userInfo: [AnyHashable: Any], within milliseconds: UInt64 = 10_000
    ) async -> Opened {
        let text = IncomingPush.EncryptedData(in: userInfo)
        return await withCheckedContinuation { continuation in
            open(text, as: .background, within: milliseconds) { continuation.resume(returning: $0) }
        }
    }

    /// Opens the payload of a PushKit push, and waits for it, normally some milliseconds. The system ends an app whose delegate
    /// returns before it has reported a call: call this in the delegate's method, and report a call whatever it returns. If that
    /// is not `opened`, end the call. Only what was sealed as `voip` opens: a relay cannot make the phone ring with a message.
    ///
    ///     func pushRegistry(
    ///         _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
    ///         completion: @escaping @Sendable () -> Void
    ///     ) {
    ///         let (call, update) = (UUID(), CXCallUpdate())
    ///         let opened = pushes.openCall(payload.dictionaryPayload)
    ///         if case .opened(let notification) = opened { update.localizedCallerName = notification.from?.name }
    ///         nonisolated(unsafe) let provider = provider
    ///         provider.reportNewIncomingCall(with: call, update: update) { error in
    ///             // With an error, such as for a blocked caller, there is no call.
    ///             if error == nil {
    ///                 if case .opened = opened {
    ///                     // Connect.
    ///                 } else {
    ///                     provider.reportCall(with: call, endedAt: nil, reason: .failed)
    ///                 }
    ///             }
    ///             completion()
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - payload: The push's dictionary.
    ///   - milliseconds: When this returns at the latest, whatever keys and files do.
    ///   - isCall: Also opens alerts for which this returns true, for an app whose extension passes them on as calls. It must
    ///     ask the sealed payload. Such an alert is `repeated`, because the extension has opened it.
    public func openCall(
        _ payload: [AnyHashable: Any], within milliseconds: UInt64 = 2000,
        orAlert isCall: (@Sendable (OpenedNotification) -> Bool)? = nil
    ) -> Opened {
        let answer = Locked<Opened?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        open(IncomingPush.EncryptedData(in: payload), as: .call, orAlert: isCall, within: milliseconds) { opened in
            answer.withLock { $0 = opened }
            isAnswered.signal()
        }
        isAnswered.wait()
        return answer.withLock { $0 } ?? .unopened(.deadline)
    }

    private func open(
        _ text: IncomingPush.EncryptedData, as pushClass: PushClass,
        orAlert isCall: (@Sendable (OpenedNotification) -> Bool)? = nil, within milliseconds: UInt64,
        _ answer: @escaping @Sendable (Opened) -> Void
    ) {
        let (isDecided, isAnswered) = (Locked(false), Locked(false))
        let answerOnce: @Sendable (Opened) -> Void = { if isAnswered.set() { answer($0) } }
        // The rest of the time is for the guard: what it has remembered as opened counts as repeated later.
        let timers = [
            configuration.clock.schedule(afterMilliseconds: milliseconds - milliseconds / 4) {
                if isDecided.set() { answerOnce(.unopened(.deadline)) }
            },
            // Claims the answer first: stopped work may still answer.
            configuration.clock.schedule(afterMilliseconds: milliseconds) { [files] in
                let isFirst = isAnswered.set()
                files.stop()
                if isFirst { answer(.unopened(.deadline)) }
            },
        ]
        files.begin()
        Self.queue.async { [files, configuration, list] in
            let now = configuration.now()
            let receiver = files.receiver(at: now).receiver
            let push = IncomingPush(encryptedData: text, clear: NotificationContent())
            var reception = receiver.receive(
                push, as: pushClass, requestID: nil, at: now, isAwaited: { isDecided.set() })
            if let isCall, reception.delivery.code == OpenError.Code.wrongPushClass.description {
                reception = receiver.receive(
                    push, as: .alert, requestID: nil, at: now, isAwaited: { isDecided.set() }, where: isCall)
            }
            for timer in timers { timer.cancel() }
            if pushClass == .call { answerOnce(Opened(reception.delivery)) }
            if reception.delivery.sentAt != nil, let directory = files.directory {
                list.removeWithdrawn(in: directory, at: now, configuration.senders)
            }
            answerOnce(Opened(reception.delivery))
            receiver.deleteRetiredKeys(after: reception.delivery, at: now)
        }
    }
}

extension Locked<Bool> {
    /// Sets the flag; returns whether this call did.
    fileprivate func set() -> Bool {
        withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}

extension AppPushes.Opened {
    fileprivate init(_ delivery: Delivery) {
        if let opened = delivery.opened {
            self = delivery.isRepeated || opened.isDuplicate ? .repeated(opened) : .opened(opened)
        } else if case .fallback(let reason) = delivery.outcome {
            self = .unopened(reason)
        } else {
            self = .unopened(
                Delivery.Reason(code: delivery.code, description: "the message was withdrawn or shown before"))
        }
    }
}
