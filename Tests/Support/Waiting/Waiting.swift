internal import Foundation

/// Waits until a condition is true. Returns whether it is.
///
/// The limit is 10,000 turns, not a time: while other tests hold the threads for tasks, what a test waits for cannot
/// happen, and no turn passes either. A test that blocked its thread instead could block that work.
@discardableResult
package func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async -> Bool {
    for _ in 0..<10_000 {
        if condition() { return true }
        await turn()
    }
    return condition()
}

/// Lets tasks and threads that wait for a turn have one, several times: what has not happened then does not happen.
package func allTurns() async { for _ in 0..<50 { await turn() } }

/// Waits at least so long, and until this task gets one of Swift's threads again.
package func turn(milliseconds: UInt64 = 2) async { try? await Task.sleep(nanoseconds: milliseconds * 1_000_000) }

/// Work on a separate thread, which it may block.
package final class SeparateThread<Value: Sendable>: Sendable {
    private let end = Gate()
    private nonisolated(unsafe) var result: Result<Value, any Error>?

    package init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            unsafe result = Result(catching: body)
            end.open()
        }
    }

    /// The result of the work, which is waited for without a thread for tasks.
    package var value: Value {
        get async throws {
            await end.waitUntilOpen()
            guard let result = unsafe result else { preconditionFailure("the end without a result") }
            return try result.get()
        }
    }
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

    /// Blocks this thread until the gate is open. Tasks call `waitUntilOpen`.
    package func pass() {
        condition.lock()
        defer { condition.unlock() }
        unsafe visitors += 1
        while unsafe !isOpen { condition.wait() }
    }

    /// Waits until the gate is open, without a thread for tasks.
    package func waitUntilOpen() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.pass()
                continuation.resume()
            }
        }
    }

    /// Waits until so many threads or tasks are at the gate. Returns false if they do not arrive.
    package func hasVisitors(_ count: Int = 1) async -> Bool { await eventually { visitorCount >= count } }

    private var visitorCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return unsafe visitors
    }
}
