internal import Foundation
internal import PushcryptKeyStore
internal import UserNotifications

// From a delivery to the screen. Not run on Apple systems.
extension SimulatedDevice {
    /// Shows what was delivered, or the push as it came for nil, and decides the reception.
    func show(_ delivered: UNNotificationContent?, for reception: Reception) {
        guard let delivered else { return ask(reception.original, .original, reception) }
        guard delivered.isEmpty else { return ask(delivered, .delivered, reception) }
        if app.hasFilteringEntitlement { return reception.decide(.nothing, nil) }
        reception.refuseEmpty()
        ask(reception.original, .original, reception)
    }

    /// Lets the app decide, if it is in the foreground.
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
        if shown.places.contains(.list) { add(identifier, content) } else { remove(identifier) }
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
