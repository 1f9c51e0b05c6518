#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The directory of a store: only its owner has access, and nobody else can rearrange the directories above it.
struct StoreDirectory: Sendable {
    private static let mode: mode_t = 0o700

    /// An absolute path without symbolic links.
    let path: String

    /// Finds an existing directory.
    init(existing path: String) throws(KeyStoreError) {
        let path = try Self.normalised(path)
        guard let facts = try FileFacts(at: path) else { throw Self.missing(path) }
        self.path = try Self.resolved(path, facts)
        if let problem = try problems().first { throw problem }
    }

    /// Creates the directory, and those above it, where missing.
    init(making path: String) throws(KeyStoreError) {
        var made: [String] = []
        try self.init(making: path, noting: &made)
    }

    private init(making path: String, noting made: inout [String]) throws(KeyStoreError) {
        let path = try Self.normalised(path)
        for directory in Self.parents(of: path) + [path] {
            if try Self.makeDirectory(directory) { made.append(directory) }
        }
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

    private static func normalised(_ path: String) throws(KeyStoreError) -> String {
        // C would only see the part before a zero byte.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw KeyStoreError(.inputOutput, "the path of the store's directory is empty, or contains a zero byte")
        }
        // With a trailing slash, a path follows the link that it names.
        var path = path
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return path
    }

    private static func resolved(_ path: String, _ facts: FileFacts) throws(KeyStoreError) -> String {
        guard !facts.isSymbolicLink else {
            throw UnsafeFile.error(
                path, "is a symbolic link", "name the directory itself: \"$(realpath \(quoted(path)))\"")
        }
        guard facts.isDirectory else {
            throw UnsafeFile.error(path, "is not a directory", "name another directory")
        }
        guard let resolved = unsafe realpath(path, nil) else { throw .system(errno, "access \(path)") }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
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
        try keepName(of: path)
        return isNew
    }

    /// Waits until a directory's name is on the disk; without it, all its contents would be lost.
    ///
    /// This includes an existing directory: its creation may have been interrupted. A directory above that cannot be
    /// read, or is not on a disk, is skipped.
    private static func keepName(of path: String) throws(KeyStoreError) {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
        // The dot follows a link, as the path itself does here.
        let number = unsafe open(parent + ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return }
        defer { _ = close(number) }
        guard fsync(number) == 0 || errno == EINVAL else { throw .system(errno, "write \(parent)") }
    }

    // MARK: Rules

    /// Returns the problems of the directory and those above it, the worst first.
    func problems() throws(KeyStoreError) -> [KeyStoreError] {
        guard let facts = try FileFacts(at: path) else { return [Self.missing(path)] }
        var problems = UnsafeFile.problems(of: path, facts, mode: Self.mode)
        // On a phone the container is the boundary; the directories above it are the system's, and not all of them can
        // be read.
        #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            problems += try parentProblems()
        #endif
        return problems
    }

    private func parentProblems() throws(KeyStoreError) -> [KeyStoreError] {
        var problems: [KeyStoreError] = []
        var position = path.utf8.endIndex
        while let slash = path.utf8[..<position].lastIndex(of: UInt8(ascii: "/")), position > path.utf8.startIndex {
            position = slash
            let parent = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
            if let facts = try FileFacts(at: parent) { problems += UnsafeFile.problems(ofParent: parent, facts) }
        }
        return problems
    }

    /// Returns whether a file of the store exists; throws if it is not its owner's alone.
    func has(_ name: StaticString) throws(KeyStoreError) -> Bool { try facts(of: name) != nil }

    /// Returns the properties of a file of the store, after checking it; nil if it does not exist.
    func facts(of name: StaticString) throws(KeyStoreError) -> FileFacts? {
        guard let facts = try FileFacts(at: file(name)) else { return nil }
        if let problem = UnsafeFile.problems(of: file(name), facts).first { throw problem }
        return facts
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

    /// Lets the owner of a file read and write it.
    func makeWritable(_ name: StaticString) throws(KeyStoreError) {
        guard unsafe chmod(file(name), UnsafeFile.fileMode) == 0 else { throw .system(errno, "protect \(file(name))") }
    }

    /// Whether there is a file with something in it.
    func hasContent(_ name: StaticString) throws(KeyStoreError) -> Bool { try facts(of: name)?.size ?? 0 > 0 }

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

/// The rules for files that hold secrets, and the commands that fix a violation.
enum UnsafeFile {
    static let fileMode: mode_t = 0o600

    /// Checks that a file, or with another mode the directory, is accessible to this user alone.
    static func problems(of path: String, _ facts: FileFacts, mode: mode_t = fileMode) -> [KeyStoreError] {
        if facts.isSymbolicLink {
            let path = quoted(path)
            let fix = "put the file itself there: f=$(realpath \(path)) && rm \(path) && mv \"$f\" \(path)"
            return [error(path, "is a symbolic link", fix)]
        }
        guard facts.isRegular || facts.isDirectory && mode != fileMode else {
            let path = quoted(path)
            return [error(path, "is not a regular file", "move it away: mv \(path) \(path).away")]
        }
        var problems: [KeyStoreError] = []
        if facts.owner != geteuid() {
            let path = quoted(path)
            problems.append(
                error(
                    path, "belongs to user \(facts.owner), you are user \(geteuid())",
                    "run this as its owner, or, if it is yours: chown \(geteuid()) \(path)"))
        }
        if facts.mode & (S_IRWXG | S_IRWXO) != 0 {
            let path = quoted(path)
            let wanted = "0" + String(mode, radix: 8)
            problems.append(
                error(path, "is open to others (mode \(facts.permissions))", "run: chmod \(wanted) \(path)"))
        }
        if facts.isRegular, facts.links > 1 {
            let path = quoted(path)
            problems.append(
                error(
                    path, "has \(facts.links) hard links, so it can be reached under another name",
                    "run: cp -p \(path) \(path).copy && mv \(path).copy \(path)"))
        }
        return problems
    }

    /// Checks a directory above a store: anyone who can write to it could replace the store with another.
    ///
    /// In a sticky directory, such as /tmp, only the owner can rename another user's files.
    static func problems(ofParent path: String, _ facts: FileFacts) -> [KeyStoreError] {
        guard facts.owner == 0 || facts.owner == geteuid() else {
            return [
                error(
                    quoted(path), "belongs to user \(facts.owner), who could replace this store with another",
                    "keep the store in your own directory, or, if this one is yours: chown \(geteuid()) \(quoted(path))"
                )
            ]
        }
        guard facts.mode & S_ISVTX == 0 else { return [] }
        if facts.mode & S_IWOTH != 0 {
            return [error(quoted(path), "is writable by everyone", "run: chmod o-w \(quoted(path))")]
        }
        // On many systems each user's own group has the user's number and may write.
        if facts.mode & S_IWGRP != 0, facts.group != getegid() || facts.group != geteuid() {
            return [
                error(quoted(path), "is writable by group \(facts.group)", "run: chmod g-w \(quoted(path))")
            ]
        }
        return []
    }

    static func error(_ path: String, _ problem: String, _ fix: String) -> KeyStoreError {
        KeyStoreError(.unsafeStoreFile, "\(path) \(problem); \(fix)")
    }
}

/// Quotes a path as one word of a shell command.
func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
}
