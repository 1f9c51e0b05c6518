#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
internal import Pushcrypt

/// The directory of a store.
struct StoreDirectory: Sendable {
    private static let mode: mode_t = 0o700

    /// An absolute path without symbolic links.
    let path: String

    /// Finds an existing directory.
    init(existing path: String) throws(KeyStoreError) {
        try Self.check(path)
        guard let facts = try FileFacts(at: path) else { throw Self.missing(path) }
        guard facts.isDirectory else {
            throw KeyStoreError(.storeMissing, "no key store at \(path), which is not a directory")
        }
        self.path = try realPath(path)
    }

    /// Creates the directory, and those above it, where missing.
    init(making path: String) throws(KeyStoreError) {
        try Self.check(path)
        for directory in Self.parents(of: path) + [path] { try Self.makeDirectory(directory) }
        guard try FileFacts(at: path)?.isDirectory == true else { throw .system(ENOTDIR, "use \(path)") }
        try self.init(existing: path)
    }

    func file(_ name: StaticString) -> String { "\(path)/\(name)" }

    static func missing(_ path: String) -> KeyStoreError {
        KeyStoreError(
            .storeMissing, "no key store at \(path)")
    }

    // MARK: Paths

    private static func check(_ path: String) throws(KeyStoreError) {
        // C would only see the part before a zero byte.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw KeyStoreError(.inputOutput, "the path of the store's directory is empty, or contains a zero byte")
        }
    }

    private static func parents(of path: String) -> [String] {
        var parents: [String] = []
        var position = path.utf8.startIndex
        while let slash = path.utf8[position...].firstIndex(of: UInt8(ascii: "/")) {
            if slash > path.utf8.startIndex { parents.append(String(path[..<slash])) }
            position = path.utf8.index(after: slash)
        }
        return parents
    }

    private static func makeDirectory(_ path: String) throws(KeyStoreError) {
        if unsafe mkdir(path, mode) != 0, errno != EEXIST {
            // A system may refuse to create what exists with an error other than EEXIST.
            let code = errno
            guard try FileFacts(at: path) != nil else { throw .system(code, "create the directory \(path)") }
        }
        // Also of one that exists: its creation may have been interrupted.
        try keepName(of: path)
    }

    // MARK: Files

    /// Returns whether a file of the store exists.
    func has(_ name: StaticString) throws(KeyStoreError) -> Bool { try facts(of: name) != nil }

    /// Returns the properties of a file of the store; nil if it does not exist.
    func facts(of name: StaticString) throws(KeyStoreError) -> FileFacts? {
        let facts = try FileFacts(at: file(name))
        try facts?.requireRegular(file(name))
        return facts
    }

    /// Returns what other users can read or change, the worst first, and whether the database has another name.
    func warnings() throws(KeyStoreError) -> [Finding] {
        guard let directory = try FileFacts(at: path) else { return [] }
        var found: [Finding] = []
        var fix: String { "if that is not meant, run: chmod -R go= \(quoted(path))" }
        if directory.mode & 0o011 != 0 {
            var open: [String] = []
            for name in [StoreKeyFile.name, SQLiteKeyStore.databaseName, ExtensionDatabase.fileName] {
                guard let facts = try FileFacts(at: file(name)), facts.isOpenToOthers else { continue }
                open.append("\(name) (mode \(facts.permissions))")
            }
            if !open.isEmpty {
                let names = open.joined(separator: ", ")
                found.append(Finding(.warning, "other users can read or change \(names) in \(quoted(path))", fix: fix))
            }
        }
        if directory.mode & 0o022 != 0 {
            let mode = directory.permissions
            found.append(
                Finding(.warning, "other users can replace the files in \(quoted(path)) (mode \(mode))", fix: fix))
        }
        let database = file(SQLiteKeyStore.databaseName)
        if let names = try FileFacts(at: database)?.links, names > 1 {
            found.append(
                Finding(
                    .warning,
                    "\(quoted(database)) has \(names) names (hard links): another is no backup, since a change under one changes all, and changes under two at once damage the store",
                    fix: "make copies with 'backup' instead"))
        }
        return found
    }

    // MARK: Changes

    /// Locks out other processes while `body` creates or replaces files; the lock of a process that dies is released.
    func withLock<R>(waiting milliseconds: Int32, _ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        let directory = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        let lock: Void? = try waiting(milliseconds: milliseconds) { () throws(KeyStoreError) in
            if flock(directory.number, LOCK_EX | LOCK_NB) == 0 { return () }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system(errno, "lock \(path)") }
            return nil
        }
        guard lock != nil else {
            throw KeyStoreError(
                .storeBusy, "another process is creating or restoring a store in \(path): try again when it is done")
        }
        return try body()
    }

    /// Creates an empty file to which only its owner has access.
    ///
    /// - Parameter final: The name that the file gets when it is finished, for errors.
    func create(_ name: StaticString, for final: StaticString? = nil) throws(KeyStoreError) -> Descriptor {
        try .create(file(name), named: file(final ?? name))
    }

    func removeIfPresent(_ name: StaticString) throws(KeyStoreError) {
        guard unsafe unlink(file(name)) != 0, errno != ENOENT else { return }
        throw .system(errno, "remove \(file(name))")
    }

    /// Renames a finished file, in one step that is on the disk when this returns.
    func rename(_ name: StaticString, to final: StaticString) throws(KeyStoreError) {
        guard systemRename(file(name), file(final)) == 0 else { throw .system(errno, "write \(file(final))") }
        try Descriptor(path, O_RDONLY | O_DIRECTORY).synchronize()
    }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { unsafe rename(old, new) }

/// Quotes a path as one word of a shell command.
func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
}

/// The file `store.key`: 32 random bytes, without which the database cannot be opened.
enum StoreKeyFile {
    static let name: StaticString = "store.key"
    static let newName: StaticString = "store.key.new"

    static func read(at path: String) throws(KeyStoreError) -> SecretBytes {
        let descriptor = try Descriptor(reading: path)
        let facts = try FileFacts(of: descriptor)
        try facts.requireRegular(path)
        guard facts.size == StoreKDF.keyLength else { throw wrongSize(path, facts.size) }
        return try SecretBytes(count: StoreKDF.keyLength) { (key) throws(KeyStoreError) in
            let count = try descriptor.read(into: &key)
            guard count == StoreKDF.keyLength else { throw wrongSize(path, Int64(count)) }
        }
    }

    private static func wrongSize(_ path: String, _ size: Int64) -> KeyStoreError {
        KeyStoreError(
            .corruptStore, "\(path) has \(size) bytes instead of \(StoreKDF.keyLength): restore it from a backup")
    }

    /// Creates the file, or uses the one left by an interrupted creation; the directory is locked.
    ///
    /// Never overwrites an existing key: it may be the only one that opens a database stored elsewhere.
    static func make(in directory: StoreDirectory) throws(KeyStoreError) -> SecretBytes {
        if try directory.has(name) { return try read(at: directory.file(name)) }
        try directory.removeIfPresent(newName)
        let key = SecretBytes(randomCount: StoreKDF.keyLength)
        try write(key, in: directory)
        return key
    }

    static func write(_ key: borrowing SecretBytes, in directory: StoreDirectory) throws(KeyStoreError) {
        let file = try directory.create(newName, for: name)
        try key.withSpan { (key) throws(KeyStoreError) in try file.write(key) }
        try directory.rename(newName, to: name)
    }
}

/// A file that did not exist before: written under a random name in its directory, and given its own when it is finished.
final class NewFile {
    /// The path as the caller named it.
    let path: String
    /// The same without links above the file: one text for each file.
    let resolved: String
    /// The path until the file is finished.
    let temporary: String
    private var isFinished = false

    /// How the names of unfinished files begin.
    static let temporaryPrefix = ".pushcrypt-"

    /// Throws `storeExists` if there is such a file.
    init(_ path: String) throws(KeyStoreError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
            throw KeyStoreError(.inputOutput, "\(quoted(path)) names no file")
        }
        let real = try realPath(slash.map { String(path[...$0]) } ?? "./")
        let parent = real == "/" ? "" : real
        self.path = path
        resolved = "\(parent)/\(name)"
        temporary = "\(parent)/\(Self.temporaryPrefix)" + String(UInt64.random(in: 0 ... .max), radix: 36)
        guard try FileFacts(at: resolved) == nil else { throw exists }
    }

    private var exists: KeyStoreError {
        KeyStoreError(.storeExists, "\(path) exists already: name another file")
    }

    func create() throws(KeyStoreError) -> Descriptor { try .create(temporary, named: path) }

    /// Gives the file its name, unless another has it by now; the name is on the disk when this returns.
    func finish() throws(KeyStoreError) {
        guard try FileFacts(at: resolved) == nil else { throw exists }
        guard unsafe rename(temporary, resolved) == 0 else { throw .system(errno, "write \(path)") }
        isFinished = true
        // The file is complete under its name, even if its directory cannot be synchronised.
        try? keepName(of: resolved)
    }

    /// Removes the file, finished or not, and what SQLite left beside the temporary one.
    func discard() {
        for end in ["", "-wal", "-shm", "-journal"] { unsafe unlink(temporary + end) }
        if isFinished { unsafe unlink(resolved) }
    }
}
