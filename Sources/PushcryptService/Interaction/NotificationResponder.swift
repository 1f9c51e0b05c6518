internal import Dispatch
public import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
public import PushcryptReceiver
public import UserNotifications

/// Passes the user's responses to notifications to the app, as the delegate of the notification center or called by the
/// app's own delegate.
///
///     let responder = NotificationResponder(configuration: configuration) { response in
///         switch response.value.action {
///         case .custom("REPLY"): try await send(try await response.answer(using: configuration))
///         default: await show(response.value.customKeys["chat"])
///         }
///         return .done
///     }
///     center.delegate = responder                                    // a weak reference
///     …
///     await responder.replayKept()           // at launch, and when protected data becomes available
///
/// The system's completion handler is called exactly once for each response, on the main thread as UIKit requires: when
/// the app's handler returns, throws, or takes longer than the deadline. After the deadline the app's handler keeps
/// running.
///
/// The app gets only authentic custom keys. If the extension never opened a notification, because the system ended it,
/// the push is opened here, as the extension would have opened it. If it does not open, there are no custom keys and no
/// category, but a reason (`Docs/Format.md`, Opened notification and fallback). This holds if every push goes through a
/// `NotificationServiceHandler` in the service extension.
///
/// A response is kept, sealed to a device key, if the app requests it; before the first unlock there are no keys, and the app
/// gets a response that needs one without custom keys. A kept response is passed to the app at least once, until the app is
/// done with it, because a lost reply is worse than a repeated one; the app recognises a repetition by request and action.
/// Every other response is passed at most once. Not run on Apple systems.
public final class NotificationResponder: NSObject, UNUserNotificationCenterDelegate, Sendable {
    /// The app's answer to a response.
    public enum Answer: Hashable, Sendable {
        /// The app is done with the response.
        case done
        /// Keep the response and pass it again, for example because the app's files are locked.
        case later
    }

    /// Handles a response. A thrown error is reported. A tap or a dismissal then counts as done; a custom action or a typed text
    /// is kept and passed again for three days, because the user believes it was sent.
    public typealias Handler = @Sendable (ReceivedResponse) async throws -> Answer

    private let configuration: Configuration
    private let handler: Handler
    private let files: ServiceFiles
    private let replays = ReplayOrder()

    /// The time for which a failed response is passed again.
    private static let patience = Interval.days(3)

    /// Creates a responder. Reads nothing before there is something to open.
    public init(configuration: Configuration, handler: @escaping Handler) {
        self.configuration = configuration
        self.handler = handler
        files = ServiceFiles(configuration.opening)
        super.init()
    }

    // MARK: Delegate

    /// Shows a notification while the app is in the foreground. The service extension has already processed it.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let shown = ShownNotification(notification, shared: nil, texts: configuration.opening.texts)
        let completion = UncheckedSendableBox(completionHandler)
        Task { @MainActor [configuration] in completion.value(await configuration.foreground(shown)) }
    }

    /// Passes a response to the app. An app with its own delegate forwards the call.
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
            await process(value, of: content)
            gate.complete()
        }
    }

    private func process(_ value: NotificationResponseValue, of content: UncheckedSendableBox<UNNotificationContent>)
        async
    {
        await hold(value)
        let received = await read(value, of: content)
        if received.waitsForUnlock, await keep(value, received) { return }
        switch await ask(received) {
        case .failed where !Self.comesAgain(value), .done: await end(received)
        case .failed, .later: _ = await keep(received.origin == .opened ? received.value : value, received)
        }
    }

    // MARK: Kept responses

    /// Passes kept responses to the app, oldest first. A response stays kept until the app is done with it. Concurrent
    /// calls run one after another.
    ///
    /// - Returns: The number of responses that the app is done with.
    @discardableResult
    public func replayKept() async -> Int { await replays.run { [self] in await replay() } }

    private func replay() async -> Int {
        let waiting: [Responses.Kept]
        do {
            waiting = try await onFiles { [self] in
                let keys = try configuration.opening.keys()
                return try files.database().responses.responses(openedWith: keys, at: configuration.opening.now())
            }
        } catch {
            report(.unreadable, nil, ServiceFiles.text(for: error))
            return 0
        }
        var done = 0
        for waiting in waiting {
            guard let response = waiting.value else { continue }
            let content = UNMutableNotificationContent()
            content.userInfo = response.customKeys
            content.categoryIdentifier = response.categoryIdentifier
            let received = await read(response, of: UncheckedSendableBox(content), keptAt: waiting.keptAt)
            if received.waitsForUnlock { break }
            switch await ask(received) {
            case .failed where !Self.comesAgain(response) || isOld(waiting), .done: break
            case .failed, .later: continue
            }
            done += 1
            await end(received)
            do {
                try await onFiles { [self] in try files.database().responses.remove(waiting) }
            } catch {
                report(.unreadable, received, ServiceFiles.text(for: error))
            }
        }
        return done
    }

    /// Whether a response that the app fails to handle is passed again.
    private static func comesAgain(_ value: NotificationResponseValue) -> Bool {
        value.action != .open && value.action != .dismiss
    }

    private func isOld(_ waiting: Responses.Kept) -> Bool {
        waiting.keptAt.adding(Self.patience) < configuration.opening.now()
    }

    private func keep(_ value: NotificationResponseValue, _ received: ReceivedResponse) async -> Bool {
        do {
            let dropped = try await onFiles { [self] in
                try files.database().responses.keep(
                    value.json, sealedTo: try deviceKey(received.account), at: configuration.opening.now())
            }
            report(.kept, received, dropped == 0 ? nil : "\(dropped) older responses were dropped to make room")
            return true
        } catch {
            report(.notKept, received, ServiceFiles.text(for: error))
            return false
        }
    }

    /// The account's newest device key, so that the response goes with its log-out; any if the account is not known.
    private func deviceKey(_ account: String?) throws -> DevicePublicKey {
        let accounts = try configuration.opening.keys().state().accounts.filter { known in
            account.map { $0.utf8.elementsEqual(known.name.utf8) } ?? true
        }
        guard let key = accounts.compactMap(\.keys.last).last else {
            throw KeyStoreError(.unknownName, "this phone has no device key for storing a response")
        }
        return key.publicKey
    }

    // MARK: Answers

    private func hold(_ value: NotificationResponseValue) async {
        guard let mark = value.mark else { return }
        try? await onFiles { [self] in try files.database().answerKeys.hold(mark) }
    }

    private func end(_ received: ReceivedResponse) async {
        guard let mark = received.value.mark else { return }
        try? await onFiles { [self] in try files.database().answerKeys.remove(mark) }
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

    private enum Ending { case done, later, failed }

    private func ask(_ received: ReceivedResponse) async -> Ending {
        do {
            guard try await handler(received) == .done else { return .later }
            report(.done, received, nil)
            return .done
        } catch {
            report(.failed, received, ServiceFiles.text(for: error))
            return .failed
        }
    }

    private func report(_ outcome: ResponseReport.Outcome, _ received: ReceivedResponse?, _ problem: String?) {
        var reason: Delivery.Reason?
        if case .unknown(let unknown) = received?.origin { reason = unknown }
        configuration.observe?(ResponseReport(outcome: outcome, reason: reason, problem: problem))
    }

    /// Waits for work on the files of the app group. The system should not suspend the process meanwhile: it ends one that is
    /// suspended with a lock on a shared file.
    private func onFiles<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await Self.blocking { [files] () throws(any Error) in
            files.begin()
            return try ExpiringActivity.system.run("keeping a response", expired: files.stop, work)
        }
    }
}

extension NotificationResponder {
    /// An app's settings for responses. Not run on Apple systems.
    public struct Configuration: Sendable {
        /// The configuration of the service extension: topic, directory in the app group, keys, policy. For a kept
        /// response, `mayPassInTheClear` sees only the custom keys and the category.
        public var opening: NotificationServiceHandler.Configuration
        /// The longest time before the system's completion handler is called, in milliseconds.
        public var deadline = ResponseGate.standardDeadline
        /// How to present a notification while the app is in the foreground; nothing for one of the chat that is open.
        public var foreground: @MainActor @Sendable (ShownNotification) async -> UNNotificationPresentationOptions = {
            _ in [.banner, .list, .sound, .badge]
        }
        /// Receives a report of each response, on any thread.
        public var observe: (@Sendable (ResponseReport) -> Void)?

        /// Creates a configuration with that of the service extension.
        public init(opening: NotificationServiceHandler.Configuration) {
            self.opening = opening
        }
    }
}

/// The result of one response, for the app's log. Contains nothing of its content.
public struct ResponseReport: Hashable, Sendable, CustomStringConvertible {
    /// The result of a response.
    public enum Outcome: String, Hashable, Sendable {
        /// The app is done with the response.
        case done
        /// The app's handler threw an error.
        case failed
        /// The response is kept for later.
        case kept
        /// The response could not be kept.
        case notKept = "not-kept"
        /// The kept responses cannot be read, or one cannot be removed and will be passed again.
        case unreadable
    }

    /// The result.
    public let outcome: Outcome
    /// The reason that there are no custom keys; nil if there are.
    public let reason: Delivery.Reason?
    /// A problem, for the developer; nil if there is none.
    public let problem: String?

    /// A line for the developer's log: outcome, reason, problem.
    public var description: String {
        [outcome.rawValue, reason?.code, problem].compactMap(\.self).joined(separator: "; ")
    }

    /// Creates a report.
    package init(outcome: Outcome, reason: Delivery.Reason? = nil, problem: String? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.problem = problem
    }
}
