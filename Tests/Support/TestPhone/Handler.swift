internal import PushcryptKeyStore
package import UserNotifications
internal import Waiting

/// A content handler that counts its calls.
package final class Handler: Sendable {
    private final class State {
        var contents: [UNNotificationContent] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The closure that the system would pass to an extension.
    package var handler: (UNNotificationContent) -> Void {
        { content in self.state.withLock { $0.contents.append(content) } }
    }

    package var count: Int { state.withLock { $0.contents.count } }

    /// Waits for the first delivery; nil if there is none.
    package func delivered() async -> UNNotificationContent? {
        await eventually { count > 0 }
        return state.withLock { $0.contents.first }
    }
}
