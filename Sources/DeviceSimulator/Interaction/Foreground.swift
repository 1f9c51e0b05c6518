#if os(Linux)
    internal import Foundation
    internal import PushcryptKeyStore
    internal import UserNotifications

    extension SimulatedDevice {
        /// Asks the app's delegate, on the main thread, what is shown of a notification; nothing, if there is no delegate
        /// or if it does not answer in time.
        func willPresent(
            _ content: UNNotificationContent, _ reception: Reception,
            then: @escaping @Sendable (Presentation.Allowed) -> Void
        ) {
            guard let delegate = center.delegate else {
                reception.note("the app is in the foreground and has no delegate")
                return then([])
            }
            let answer = ClockCall { then([]) }
            let timer = clock.schedule(afterMilliseconds: limits.app) {
                guard let giveUp = answer.take() else { return }
                reception.note("the app does not say what is shown")
                giveUp()
            }
            reception.keep(timer)
            let notification = UNNotification(
                date: clock.date, request: request(reception.requestIdentifier, content))
            let handed = UncheckedSendableBox((delegate, notification))
            DispatchQueue.main.async {
                self.inProcess {
                    let (delegate, notification) = handed.value
                    delegate.userNotificationCenter(self.center, willPresent: notification) { options in
                        guard answer.take() != nil else {
                            return reception.note("the app says again what is shown, or too late")
                        }
                        then(Presentation.Allowed(options))
                    }
                }
            }
        }
    }

    extension Presentation.Allowed {
        fileprivate init(_ options: UNNotificationPresentationOptions) {
            self = []
            if !options.isDisjoint(with: [.banner, .alert]) { insert(.banner) }
            if !options.isDisjoint(with: [.list, .alert]) { insert(.list) }
            if options.contains(.sound) { insert(.sound) }
            if options.contains(.badge) { insert(.badge) }
        }
    }
#endif
