internal import Foundation

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
