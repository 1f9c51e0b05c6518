internal import CSQLite

/// Ends the work of connections from another thread, so that a process that is about to be suspended holds no file lock.
///
/// iOS ends an app whose process is suspended with a lock on a shared file.
final class SQLiteInterruption: Sendable {
    /// Only SQLite uses the pointer; it is valid until the connection is removed.
    @safe private struct Connection {
        let pointer: OpaquePointer
    }

    private final class State {
        var connections: [Connection] = []
        var isStopped = false
    }

    private let state = Locked(State())

    /// Ends what runs now: it is rolled back, and its locks are released. Also ends waits for other connections.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { unsafe sqlite3_interrupt(connection.pointer) }
        }
    }

    /// Allows the next work.
    func begin() { state.withLock { $0.isStopped = false } }

    /// Whether work was ended and none has begun since.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Adds a connection, which must be removed before it is closed.
    func add(_ pointer: OpaquePointer) {
        let connection = unsafe Connection(pointer: pointer)
        state.withLock { $0.connections.append(connection) }
    }

    func remove(_ pointer: OpaquePointer) {
        state.withLock { state in state.connections.removeAll { unsafe $0.pointer == pointer } }
    }
}
