internal import Foundation
internal import PushcryptKeyStore
package import UserNotifications

/// Waits up to 20 seconds until a condition is true. Returns whether it is.
///
/// A test that blocked its thread instead could block the work that it waits for: there are few threads for tasks.
@discardableResult
package func eventually(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now.advanced(by: .seconds(20))
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await Task.sleep(nanoseconds: 2_000_000)
    }
    return true
}

/// Blocks threads until it is opened, like a hanging disk or Keychain.
package final class Gate: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var isOpen = false
    private nonisolated(unsafe) var visitors = 0

    package init() {}

    package func open() {
        condition.lock()
        defer { condition.unlock() }
        unsafe isOpen = true
        condition.broadcast()
    }

    /// Waits until the gate is open.
    package func pass() {
        condition.lock()
        defer { condition.unlock() }
        unsafe visitors += 1
        while unsafe !isOpen { condition.wait() }
    }

    /// Waits until so many threads are at the gate. Returns false if they do not arrive.
    package func hasVisitors(_ count: Int = 1) async -> Bool { await eventually { visitorCount >= count } }

    private var visitorCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return unsafe visitors
    }
}

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
