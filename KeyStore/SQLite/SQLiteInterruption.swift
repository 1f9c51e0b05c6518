internal import CSQLite
internal import Pushcrypt

/// Ends the work of connections from another thread, so that a process that is about to be suspended holds no file lock.
///
/// iOS ends an app whose process is suspended with a lock on a shared file.
package final class SQLiteInterruption: Sendable {
    /// Only SQLite uses the pointer; it is valid until the connection is removed.
    @safe private struct Connection {
        let pointer: OpaquePointer
    }

    private final class State {
        var connections: [Connection] = []
        var isStopped = false
    }

    private let state = Locked(State())

    package init() {}

    /// Ends what runs now: it is rolled back, and its locks are released. Also ends waits for other connections, and
    /// refuses new work until `begin`.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { unsafe sqlite3_interrupt(connection.pointer) }
        }
    }

    /// Allows work again.
    package func begin() { state.withLock { $0.isStopped = false } }

    /// Whether work is refused.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Throws `storeBusy` if work is refused.
    func check(_ path: String) throws(KeyStoreError) { if isStopped { throw .stopped(path) } }

    /// Adds a connection, which must be removed before it is closed.
    func add(_ pointer: OpaquePointer) {
        let connection = unsafe Connection(pointer: pointer)
        state.withLock { $0.connections.append(connection) }
    }

    func remove(_ pointer: OpaquePointer) {
        state.withLock { state in state.connections.removeAll { unsafe $0.pointer == pointer } }
    }
}

extension KeyStoreError {
    /// Creates the error for work that was ended because this process may be suspended.
    static func stopped(_ path: String) -> KeyStoreError {
        KeyStoreError(.storeBusy, "\(path) was not changed, because this process may be suspended: try again")
    }
}
