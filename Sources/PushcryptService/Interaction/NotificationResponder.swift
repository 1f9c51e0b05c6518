internal import Dispatch
public import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

/// Gives the app what a person does with its notifications: as the delegate of the notification center, or called by the
/// app's own.
///
///     let responder = NotificationResponder(configuration) { response in
///         switch response.value.action {
///         case .custom("REPLY"): try await send(response.value.userText, to: response.value.customKeys["chat"])
///         default: await show(response.value.customKeys["chat"])
///         }
///         return .done
///     }
///     center.delegate = responder                                    // which does not keep it alive
///     …
///     await responder.replayKept()                                   // at launch, and when protected data become available
///
/// The system's completion handler is called exactly once for each response, on the main thread, where UIKit wants it: when
/// the app is done, has thrown, or takes longer than the deadline; what it does goes on then.
///
/// The app gets only custom keys that are authentic. When the extension never opened a notification, because the system
/// ended it, the push is opened here, as the extension would have opened it. What does not open has no custom keys and no
/// category, but a reason. (`Docs/Format.md`, Opened notification and fallback) That holds if every push goes through a
/// `NotificationOpener` in the service extension.
///
/// A response is kept, sealed to a device key, when the app asks for that, or when it needs a key before the first
/// unlock. What is kept is given to the app until it is done: at least once, because a lost answer is worse than one that
/// comes twice; the app tells the two by request and action. Every other response comes at most once. Not run on Apple
/// systems.
public final class NotificationResponder: NSObject, UNUserNotificationCenterDelegate, Sendable {
    /// What the app has done with a response.
    public enum Answer: Hashable, Sendable {
        /// All there is to do.
        case done
        /// Nothing yet, for example because its files are locked: keep it, and give it again.
        case later
    }

    /// Takes a response. What it throws is an end as `done` is, and is reported.
    public typealias Handler = @Sendable (ReceivedResponse) async throws -> Answer

    private let configuration: Configuration
    private let handler: Handler
    private let files: OpenerFiles
    private let replays = ReplayOrder()

    /// Where the responder waits for disk and keys: never on a thread that tasks share.
    private static let queue = DispatchQueue(
        label: "pushcrypt.respond", qos: .userInitiated, attributes: .concurrent)

    /// Makes a responder; nothing is read before there is something to open.
    public init(_ configuration: Configuration, handler: @escaping Handler) {
        self.configuration = configuration
        self.handler = handler
        files = OpenerFiles(configuration.opening)
        super.init()
    }

    // MARK: The delegate

    /// Says that a notification is shown although the app is in front. The service extension has had it before, so that it
    /// needs no opening here.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler(configuration.foreground)
    }

    /// Takes a response; an app with a delegate of its own hands the call on.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let value = NotificationResponseValue(response)
        let content = UncheckedSendableBox(response.notification.request.content)
        let completion = UncheckedSendableBox(completionHandler)
        let gate = ResponseGate(deadline: configuration.deadline, clock: configuration.opening.clock) {
            DispatchQueue.main.async { completion.value() }
        }
        Task { [self] in
            await take(value, of: content)
            gate.complete()
        }
    }

    private func take(_ value: NotificationResponseValue, of content: UncheckedSendableBox<UNNotificationContent>) async
    {
        let received = await read(value, of: content)
        if received.waitsForUnlock, await keep(value, received) { return }
        switch await ask(received) {
        case .done: break
        case .later: _ = await keep(received.origin == .opened ? received.value : value, received)
        }
    }

    // MARK: Kept responses

    /// Gives the app what was kept, oldest first; what it is not done with stays. Calls follow one another.
    ///
    /// - Returns: how many responses the app is done with.
    @discardableResult
    public func replayKept() async -> Int { await replays.run { [self] in await replay() } }

    private func replay() async -> Int {
        let waiting: [KeptResponses.Waiting]
        do {
            waiting = try await Self.blocking { [self] in
                let keys = try configuration.opening.keys()
                return try configuration.kept().waiting(openedWith: keys, at: configuration.opening.now())
            }
        } catch {
            report(.unreadable, nil, OpenerFiles.words(for: error))
            return 0
        }
        var done = 0
        for waiting in waiting {
            let content = UNMutableNotificationContent()
            content.userInfo = waiting.response.customKeys
            content.categoryIdentifier = waiting.response.categoryIdentifier
            let received = await read(waiting.response, of: UncheckedSendableBox(content), keptAt: waiting.keptAt)
            if received.waitsForUnlock { break }
            guard await ask(received) == .done else { continue }
            done += 1
            do {
                try await Self.blocking { [self] in try configuration.kept().remove(waiting) }
            } catch {
                report(.unreadable, received, OpenerFiles.words(for: error))
            }
        }
        return done
    }

    private func keep(_ value: NotificationResponseValue, _ received: ReceivedResponse) async -> Bool {
        do {
            let dropped = try await Self.blocking { [self] in
                try configuration.kept().keep(
                    value, sealedTo: try configuration.deviceKey(), at: configuration.opening.now())
            }
            report(.kept, received, dropped == 0 ? nil : "\(dropped) older responses were given up for it")
            return true
        } catch {
            report(.notKept, received, OpenerFiles.words(for: error))
            return false
        }
    }

    // MARK: Steps

    private func read(
        _ value: NotificationResponseValue, of content: UncheckedSendableBox<UNNotificationContent>,
        keptAt: Timestamp? = nil
    ) async -> ReceivedResponse {
        await Self.blocking { [self] in
            let now = configuration.opening.now()
            let mayPass = value.source == .clear && configuration.opening.mayPassInTheClear(content.value)
            return value.received(by: files.receiver(at: now).receiver, at: now, mayPass: mayPass, keptAt: keptAt)
        }
    }

    private func ask(_ received: ReceivedResponse) async -> Answer {
        do {
            let answer = try await handler(received)
            if answer == .done { report(.done, received, nil) }
            return answer
        } catch {
            report(.failed, received, OpenerFiles.words(for: error))
            return .done
        }
    }

    private func report(_ outcome: ResponseReport.Outcome, _ received: ReceivedResponse?, _ problem: String?) {
        var reason: Delivery.Reason?
        if case .unknown(let unknown) = received?.origin { reason = unknown }
        configuration.observe?(ResponseReport(outcome, reason: reason, problem: problem))
    }

    private static func blocking<R: Sendable, E: Error>(
        _ work: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(E) in try work() }) }
        }
        return try result.get()
    }
}

/// Lets replays follow one another, so that none gives the app what another is just giving it.
private actor ReplayOrder {
    private var latest: Task<Int, Never>?

    func run(_ replay: @escaping @Sendable () async -> Int) async -> Int {
        let earlier = latest
        let task = Task {
            _ = await earlier?.value
            return await replay()
        }
        latest = task
        return await task.value
    }
}
