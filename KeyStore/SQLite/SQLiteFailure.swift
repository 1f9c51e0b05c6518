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

    /// `SQLITE_IOERR_WRITE`, `FSYNC`, `DIR_FSYNC` and `TRUNCATE`.
    private static let writeErrors = (3...6).map { SQLITE_IOERR | $0 << 8 }

    /// Whether a file could not be written.
    static func isOfWriting(_ code: Int32) -> Bool {
        [SQLITE_FULL, SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xff) || writeErrors.contains(code)
    }

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

    private var text: String {
        guard let text = unsafe sqlite3_errstr(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
