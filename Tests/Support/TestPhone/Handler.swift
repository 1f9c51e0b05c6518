internal import PushcryptKeyStore
package import UserNotifications

/// A content handler that counts.
package final class Handler: Sendable {
    private final class State {
        var contents: [UNNotificationContent] = []
    }

    private let state = Locked(State())

    package init() {}

    /// What the system would give to an extension.
    package var handler: (UNNotificationContent) -> Void {
        { content in self.state.withLock { $0.contents.append(content) } }
    }

    package var count: Int { state.withLock { $0.contents.count } }

    /// Waits for the first delivery; nil if none comes.
    package func delivered() async -> UNNotificationContent? {
        await eventually { count > 0 }
        return state.withLock { $0.contents.first }
    }
}
