#if os(Linux)
    internal import Foundation
    internal import PushcryptKeyStore
    internal import UserNotifications

    extension SimulatedDevice {
        /// Does what a person does with a notification in the list, and waits until the app has dealt with it.
        ///
        /// The app's delegate is called on the main thread. It has `limits.app` for the completion handler; simulated time
        /// passes only when it was not called for the clock's `patience`.
        public func respond(_ action: PersonAction, to identifier: String) async -> ResponseOutcome {
            await respond(action, to: identifier, among: UncheckedSendableBox(actions(of: identifier)))
        }

        /// Does the same with other actions than those of the category.
        func respond(
            _ action: PersonAction, to identifier: String, among offered: UncheckedSendableBox<[UNNotificationAction]>
        ) async -> ResponseOutcome {
            switch response(action, to: identifier, among: offered.value) {
            case .failure(let unheard):
                if action == .dismiss { remove(identifier) }
                return ResponseOutcome(unheard: unheard.reason)
            case .success(let response):
                let (handed, opensApp) = (UncheckedSendableBox(response), opensApp(response, offered.value))
                remove(identifier)
                if opensApp { isAppInForeground = true }
                return await send(handed, opensApp: opensApp)
            }
        }

        struct Unheard: Error {
            let reason: UnheardReason
        }

        /// Makes the response of an action, or says why there is none.
        func response(
            _ action: PersonAction, to identifier: String, among actions: [UNNotificationAction]
        ) -> Result<UNNotificationResponse, Unheard> {
            func unheard(_ reason: UnheardReason) -> Result<UNNotificationResponse, Unheard> {
                .failure(Unheard(reason: reason))
            }
            guard let notification = center.deliveredNow.first(where: { $0.request.identifier == identifier }) else {
                return unheard(.notListed)
            }
            let category = category(of: notification.request.content)
            let response: UNNotificationResponse
            switch action {
            case .tap:
                response = UNNotificationResponse(
                    notification: notification, actionIdentifier: UNNotificationDefaultActionIdentifier)
            case .dismiss:
                guard category?.options.contains(.customDismissAction) == true else {
                    return unheard(.dismissNotReported)
                }
                response = UNNotificationResponse(
                    notification: notification, actionIdentifier: UNNotificationDismissActionIdentifier)
            case .choose(let name), .write(_, let name):
                guard let offered = actions.first(where: { $0.identifier == name }) else {
                    return unheard(.notOffered)
                }
                if offered.options.contains(.authenticationRequired), lockState != .unlocked { return unheard(.locked) }
                switch (action, offered is UNTextInputNotificationAction) {
                case (.write(let text, _), true):
                    response = UNTextInputNotificationResponse(
                        notification: notification, actionIdentifier: name, userText: text)
                case (.choose, false):
                    response = UNNotificationResponse(notification: notification, actionIdentifier: name)
                default: return unheard(.noTextInput)
                }
            }
            if opensApp(response, actions), lockState != .unlocked { return unheard(.locked) }
            return .success(response)
        }

        private func opensApp(_ response: UNNotificationResponse, _ actions: [UNNotificationAction]) -> Bool {
            if response.actionIdentifier == UNNotificationDefaultActionIdentifier { return true }
            let action = actions.first { $0.identifier == response.actionIdentifier }
            return action?.options.contains(.foreground) ?? false
        }

        /// Gives a response to the app's delegate.
        private func send(_ response: UncheckedSendableBox<UNNotificationResponse>, opensApp: Bool) async
            -> ResponseOutcome
        {
            guard let delegate = center.delegate else {
                return ResponseOutcome(unheard: .noDelegate, opensApp: opensApp)
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

        /// Waits until the handler was called and the call has returned, at most so many milliseconds of the clock's.
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

        /// Waits so many seconds of real time; tells whether the handler was called and the call has returned, or there is no
        /// more time.
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
