internal import Foundation
package import UserNotifications

/// A content handler that counts.
package final class Handler: @unchecked Sendable {
    // The content of a delivery is frozen, and what else there is is guarded.
    private let condition = NSCondition()
    private var contents: [UNNotificationContent] = []

    package init() {}

    /// What the system would give to an extension.
    package var handler: (UNNotificationContent) -> Void {
        { content in
            self.condition.lock()
            defer { self.condition.unlock() }
            self.contents.append(content)
            self.condition.broadcast()
        }
    }

    package var count: Int {
        condition.lock()
        defer { condition.unlock() }
        return contents.count
    }

    /// Waits for the first delivery; nil if none comes.
    package func delivered(within seconds: Double = 20) -> UNNotificationContent? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: seconds)
        while contents.isEmpty, condition.wait(until: end) {}
        return contents.first
    }
}
