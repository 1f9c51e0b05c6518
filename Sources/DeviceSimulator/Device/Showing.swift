internal import Foundation
internal import PushcryptKeyStore
internal import UserNotifications

// Presents deliveries. Not run on Apple systems.
extension SimulatedDevice {
    /// Presents the delivered content, or the push as received if it is nil, and decides the reception.
    func show(_ delivered: UNNotificationContent?, for reception: Reception) {
        guard let delivered else { return ask(reception.original, .original, reception) }
        #if os(Linux)
            guard delivered.hasPropertyList else { return refuse(.userInfoNotPropertyList, reception) }
        #endif
        guard delivered.isEmpty else { return ask(delivered, .delivered, reception) }
        if app.hasFilteringEntitlement { return reception.decide(.nothing, nil) }
        refuse(.emptyWithoutEntitlement, reception)
    }

    private func refuse(_ fault: Fault, _ reception: Reception) {
        reception.refuse(fault)
        ask(reception.original, .original, reception)
    }

    /// Asks the app how to present the content, if it is in the foreground.
    private func ask(_ content: UNNotificationContent, _ source: Outcome.Source, _ reception: Reception) {
        #if os(Linux)
            if isAppInForeground {
                let handed = UncheckedSendableBox(content)
                return willPresent(content, reception) { allowed in
                    self.put(handed.value, source, reception, allowed)
                }
            }
        #endif
        put(content, source, reception, .all)
    }

    private func put(
        _ content: UNNotificationContent, _ source: Outcome.Source, _ reception: Reception,
        _ allowed: Presentation.Allowed
    ) {
        let identifier = reception.requestIdentifier
        let others = list.contains(identifier) ? 0 : 1
        let count = count(of: content.threadIdentifier) + others
        let shown = presentation.arrival(of: content, among: count, allowed: allowed)
        if shown.presentation.contains(.list) { add(identifier, content) } else { remove(identifier) }
        if let number = shown.badge { badge = number }
        let decide: @Sendable () -> Void = {
            if shown.isNothing { reception.decide(.nothing, nil) } else { reception.decide(source, shown) }
        }
        #if os(Linux)
            updateExpanded(identifier, content, then: decide)
        #else
            decide()
        #endif
    }
}

#if os(Linux)
    extension SimulatedDevice {
        /// Asks the app's delegate, on the main thread, how to present a notification. Without a delegate, or without
        /// an answer in time, the notification is not presented.
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
                reception.note("the app did not answer how to present the notification")
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
                            return reception.note("the app answered again or too late")
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
