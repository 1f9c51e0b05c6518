internal import CSQLite
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A result code of SQLite, and what explains it.
struct SQLiteFailure {
    let code: Int32
    /// The error of the last system call of the connection.
    let systemError: Int32
    let path: String
    /// The path in errors.
    let name: String

    /// Bound values never appear in it.
    var error: KeyStoreError {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            return KeyStoreError(.storeBusy, "another process is using \(name): try again when it is done")
        case SQLITE_INTERRUPT:
            // No damage: the file is whole, and must not be recreated.
            return .stopped(name)
        case SQLITE_FULL:
            return .system(ENOSPC, "write \(name)")
        case SQLITE_READONLY:
            // The log and its index get the mode that the database has when they are created.
            let file =
                ["-shm", "-wal"].map { path + $0 }.first { (try? FileFacts(at: $0))?.isWritable == false } ?? name
            return KeyStoreError(
                .inputOutput, "cannot write \(file): run chmod u+w \(quoted(file)), or use a disk that is not read-only"
            )
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

    private var text: String {
        guard let text = unsafe sqlite3_errstr(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
