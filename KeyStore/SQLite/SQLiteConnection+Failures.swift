internal import CSQLite
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// MARK: Failures
extension SQLiteConnection {
    /// `SQLITE_IOERR_WRITE`, `FSYNC`, `DIR_FSYNC` and `TRUNCATE`.
    private static let writeErrors = (3...6).map { SQLITE_IOERR | $0 << 8 }

    /// Whether a file could not be written.
    static func isOfWriting(_ code: Int32) -> Bool {
        [SQLITE_FULL, SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xff) || writeErrors.contains(code)
    }

    func check(_ code: Int32) throws(KeyStoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Returns the error for a result code. Bound values never appear in it.
    func failure(_ code: Int32) -> KeyStoreError {
        let systemError = unsafe sqlite3_system_errno(database)
        let text = unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            return KeyStoreError(.storeBusy, "another process is using \(name): try again when it is done")
        case SQLITE_INTERRUPT:
            // No damage: the file is whole, and must not be recreated.
            return .stopped(name)
        case SQLITE_FULL:
            return .system(ENOSPC, "write \(name)")
        case SQLITE_TOOBIG:
            return KeyStoreError(.inputOutput, "cannot write \(name): a value is larger than a store holds")
        case SQLITE_READONLY:
            return KeyStoreError(.inputOutput, "cannot write \(name): the file, its log or the disk is read-only")
        case SQLITE_CANTOPEN where systemError == ENOENT && (try? FileFacts(at: path)) != nil:
            // This is the last of several attempts to open a log or its index, which does not tell the cause.
            return KeyStoreError(
                .inputOutput,
                "cannot create the files beside \(name): check that the disk has room and the directory is writable")
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            return systemError == 0
                ? KeyStoreError(.inputOutput, "cannot use \(name): \(text)") : .system(systemError, "use \(name)")
        case SQLITE_NOMEM:
            return KeyStoreError(.inputOutput, "cannot use \(name): out of memory")
        default:
            return KeyStoreError(.corruptStore, "\(name) is damaged (\(text)): restore it from a backup")
        }
    }
}

/// Ends the work of connections from another thread, so that a process that is about to be suspended holds no file lock.
///
/// iOS ends an app whose process is suspended with a lock on a shared file.
package final class SQLiteInterruption: Sendable {
    /// Only SQLite uses the pointer; it is valid until the connection is removed.
    @safe private struct Connection {
        let pointer: OpaquePointer
    }

    private struct State {
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
