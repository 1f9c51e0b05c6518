internal import Foundation
internal import PushcryptKeyStore
internal import UserNotifications

/// An action of the user on a notification.
public enum UserAction: Hashable, Sendable {
    /// Taps the notification, which opens the app.
    case tap
    /// Dismisses the notification.
    case dismiss
    /// Chooses an action of the category.
    case choose(String)
    /// Enters text for an action with text input.
    case write(String, action: String)
}

/// The reason that the app did not get a response.
public enum UndeliveredReason: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The list has no such notification.
    case notListed = "not-listed"
    /// The notification's category is not declared, or has no such action.
    case notOffered = "not-offered"
    /// The action has no text input, or requires text.
    case noTextInput = "no-text-input"
    /// The category lacks `.customDismissAction`, so that dismissals are not reported.
    case dismissNotReported = "dismiss-not-reported"
    /// The device requires the passcode first: unlock it.
    case locked
    /// The app's notification center has no delegate.
    case noDelegate = "no-delegate"
    /// The content extension did not forward the response.
    case keptByContentExtension = "kept-by-content-extension"

    /// The reason for programs, for example `dismiss-not-reported`.
    public var description: String { rawValue }
}

/// The outcome of a user's action.
public struct ResponseOutcome: Hashable, Sendable {
    /// The reason that the app did not get the response; nil if it did.
    public let undelivered: UndeliveredReason?
    /// The number of times the app's delegate called the completion handler. Exactly one is correct.
    public let completions: Int
    /// Whether the app is brought to the foreground.
    public let opensApp: Bool

    /// Creates an outcome for a test to compare with.
    public init(undelivered: UndeliveredReason? = nil, completions: Int = 0, opensApp: Bool = false) {
        self.undelivered = undelivered
        self.completions = completions
        self.opensApp = opensApp
    }
}

#if os(Linux)
    extension SimulatedDevice {
        /// Performs a user's action on a notification in the list and waits until the app is done with the response.
        ///
        /// The app's delegate is called on the main thread. It must call the completion handler within `limits.app`;
        /// simulated time passes only if the handler is not called within the clock's `patience`.
        ///
        /// - Parameters:
        ///   - action: The user's action.
        ///   - identifier: The identifier of the notification.
        public func respond(_ action: UserAction, to identifier: String) async -> ResponseOutcome {
            await respond(action, to: identifier, among: UncheckedSendableBox(actions(of: identifier)))
        }

        /// Does the same with the actions offered, which may differ from those of the category.
        func respond(
            _ action: UserAction, to identifier: String, among offered: UncheckedSendableBox<[UNNotificationAction]>
        ) async -> ResponseOutcome {
            switch response(action, to: identifier, among: offered.value) {
            case .failure(let undelivered):
                if action == .dismiss { remove(identifier) }
                return ResponseOutcome(undelivered: undelivered.reason)
            case .success(let response):
                let (handed, opensApp) = (UncheckedSendableBox(response), opensApp(response, offered.value))
                remove(identifier)
                if opensApp { isAppInForeground = true }
                return await send(handed, opensApp: opensApp)
            }
        }

        struct Undelivered: Error {
            let reason: UndeliveredReason
        }

        /// Returns the response for an action, or the reason that there is none.
        func response(
            _ action: UserAction, to identifier: String, among actions: [UNNotificationAction]
        ) -> Result<UNNotificationResponse, Undelivered> {
            func undelivered(_ reason: UndeliveredReason) -> Result<UNNotificationResponse, Undelivered> {
                .failure(Undelivered(reason: reason))
            }
            guard let notification = center.deliveredNow.first(where: { $0.request.identifier == identifier }) else {
                return undelivered(.notListed)
            }
            let category = category(of: notification.request.content)
            let response: UNNotificationResponse
            switch action {
            case .tap:
                response = UNNotificationResponse(
                    notification: notification, actionIdentifier: UNNotificationDefaultActionIdentifier)
            case .dismiss:
                guard category?.options.contains(.customDismissAction) == true else {
                    return undelivered(.dismissNotReported)
                }
                response = UNNotificationResponse(
                    notification: notification, actionIdentifier: UNNotificationDismissActionIdentifier)
            case .choose(let name), .write(_, let name):
                guard let offered = actions.first(where: { $0.identifier == name }) else {
                    return undelivered(.notOffered)
                }
                if offered.options.contains(.authenticationRequired), lockState != .unlocked {
                    return undelivered(.locked)
                }
                switch (action, offered is UNTextInputNotificationAction) {
                case (.write(let text, _), true):
                    response = UNTextInputNotificationResponse(
                        notification: notification, actionIdentifier: name, userText: text)
                case (.choose, false):
                    response = UNNotificationResponse(notification: notification, actionIdentifier: name)
                default: return undelivered(.noTextInput)
                }
            }
            if opensApp(response, actions), lockState != .unlocked { return undelivered(.locked) }
            return .success(response)
        }

        private func opensApp(_ response: UNNotificationResponse, _ actions: [UNNotificationAction]) -> Bool {
            if response.actionIdentifier == UNNotificationDefaultActionIdentifier { return true }
            let action = actions.first { $0.identifier == response.actionIdentifier }
            return action?.options.contains(.foreground) ?? false
        }

        /// Passes a response to the app's delegate.
        private func send(_ response: UncheckedSendableBox<UNNotificationResponse>, opensApp: Bool) async
            -> ResponseOutcome
        {
            guard let delegate = center.delegate else {
                return ResponseOutcome(undelivered: .noDelegate, opensApp: opensApp)
            }
            let completion = Completion()
            let app = UncheckedSendableBox(delegate)
            DispatchQueue.main.async {
                self.inProcess {
                    app.value.userNotificationCenter(self.center, didReceive: response.value) { completion.complete() }
                }
                completion.didReturn()
            }
            await completion.wait(clock: clock, limit: limits.app)
            return ResponseOutcome(completions: completion.count, opensApp: opensApp)
        }
    }

    /// Counts the calls of a completion handler.
    final class Completion: @unchecked Sendable {
        private let condition = NSCondition()
        private var calls = 0
        private var hasReturned = false
        private var isGivenUp = false

        var count: Int { condition.withLock { calls } }

        func complete() { change { calls += 1 } }
        func didReturn() { change { hasReturned = true } }

        private func change(_ body: () -> Void) {
            condition.withLock {
                body()
                condition.broadcast()
            }
        }

        /// Waits until the handler was called and the delegate has returned, for at most `limit` milliseconds of the
        /// clock.
        func wait(clock: DeviceClock, limit: UInt64) async {
            let timer = clock.schedule(afterMilliseconds: limit) { self.change { self.isGivenUp = true } }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    while !self.isOver(within: clock.patience) { clock.pass() }
                    continuation.resume()
                }
            }
            timer.cancel()
        }

        /// Waits for at most some seconds of real time. Returns whether the handler was called and the delegate has
        /// returned, or the time is over.
        private func isOver(within seconds: TimeInterval) -> Bool {
            let end = Date(timeIntervalSinceNow: seconds)
            return condition.withLock {
                while !isOver, condition.wait(until: end) {}
                return isOver
            }
        }

        private var isOver: Bool { isGivenUp || (calls > 0 && hasReturned) }
    }
#endif
