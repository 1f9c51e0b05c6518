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
        var made: [String] = []
        try self.init(making: path, noting: &made)
    }

    private init(making path: String, noting made: inout [String]) throws(KeyStoreError) {
        try Self.check(path)
        for directory in Self.parents(of: path) + [path] {
            if try Self.makeDirectory(directory) { made.append(directory) }
        }
        guard try FileFacts(at: path)?.isDirectory == true else { throw .system(ENOTDIR, "use \(path)") }
        try self.init(existing: path)
    }

    /// Creates the directory for `body`; if that throws, removes again what was created and is empty.
    static func making<R>(
        _ path: String, _ body: (StoreDirectory) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        var made: [String] = []
        do throws(KeyStoreError) {
            return try body(StoreDirectory(making: path, noting: &made))
        } catch {
            for directory in made.reversed() { unsafe rmdir(directory) }
            throw error
        }
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

    /// Returns whether the directory did not exist.
    private static func makeDirectory(_ path: String) throws(KeyStoreError) -> Bool {
        let isNew = unsafe mkdir(path, mode) == 0
        if !isNew, errno != EEXIST {
            // A system may refuse to create what exists with an error other than EEXIST.
            let code = errno
            guard try FileFacts(at: path) != nil else { throw .system(code, "create the directory \(path)") }
        }
        // Also of one that exists: its creation may have been interrupted.
        try keepName(of: path)
        return isNew
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
            for name in SQLiteKeyStore.keptFiles {
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

    func removeIfPresent(_ name: StaticString) throws(KeyStoreError) { try FileFacts.removeFile(at: file(name)) }

    /// Returns the names of all files, in the order of their bytes.
    func names() throws(KeyStoreError) -> [String] {
        guard let stream = unsafe opendir(path) else { throw .system(errno, "read \(path)") }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Renames a finished file, in one step that is on the disk when this returns.
    func rename(_ name: StaticString, to final: StaticString) throws(KeyStoreError) {
        try move(name, to: final)
        try synchronize()
    }

    /// Renames a file, without waiting for the disk.
    func move(_ name: StaticString, to final: StaticString) throws(KeyStoreError) {
        guard systemRename(file(name), file(final)) == 0 else { throw .system(errno, "write \(file(final))") }
    }

    /// Waits until the names of the files are on the disk.
    func synchronize() throws(KeyStoreError) { try Descriptor(path, O_RDONLY | O_DIRECTORY).synchronize() }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { unsafe rename(old, new) }

/// Quotes a path as one word of a shell command.
func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
}
