#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The directory of a store: its owner's alone, and reached only through directories that nobody else can rearrange.
struct StoreDirectory: Sendable {
    private static let mode: mode_t = 0o700

    /// Absolute, without symbolic links.
    let path: String

    /// Finds a directory that must exist.
    init(existing path: String) throws(KeyStoreError) {
        let path = try Self.normalised(path)
        guard let facts = try FileFacts(at: path) else { throw Self.missing(path) }
        self.path = try Self.resolved(path, facts)
        if let problem = try problems().first { throw problem }
    }

    /// Makes the directory, and those above it, where they are missing.
    init(making path: String) throws(KeyStoreError) {
        let path = try Self.normalised(path)
        try Self.makeParents(of: path)
        try Self.makeDirectory(path)
        try self.init(existing: path)
    }

    func file(_ name: StaticString) -> String { "\(path)/\(name)" }

    static func missing(_ path: String) -> KeyStoreError {
        KeyStoreError(
            .storeMissing, "no key store at \(path): make one with 'init', or name its directory with --store")
    }

    // MARK: Paths

    private static func normalised(_ path: String) throws(KeyStoreError) -> String {
        // C would see only what comes before a zero byte.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw KeyStoreError(.inputOutput, "the path of the store's directory is empty, or has a zero byte in it")
        }
        // With a slash at its end, a path follows the link that it names.
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
            throw UnsafeFile.error(path, "is not a directory", "name another with --store")
        }
        guard let resolved = unsafe realpath(path, nil) else { throw .system(errno, "look at \(path)") }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private static func makeParents(of path: String) throws(KeyStoreError) {
        var position = path.utf8.startIndex
        while let slash = path.utf8[position...].firstIndex(of: UInt8(ascii: "/")) {
            if slash > path.utf8.startIndex { try makeDirectory(String(path[..<slash])) }
            position = path.utf8.index(after: slash)
        }
    }

    private static func makeDirectory(_ path: String) throws(KeyStoreError) {
        if unsafe mkdir(path, mode) != 0, errno != EEXIST {
            // A system may refuse to make what is there already in another way than by EEXIST.
            let code = errno
            guard try FileFacts(at: path) != nil else { throw .system(code, "make the directory \(path)") }
        }
        try keepName(of: path)
    }

    /// Waits until a directory's name is on the disk, with which all that it holds would be lost.
    ///
    /// Also when it was there before: whoever made it may have been interrupted. A directory above it that may not be read,
    /// or that lies on no disk, cannot be asked to.
    private static func keepName(of path: String) throws(KeyStoreError) {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
        // The dot follows a link, as the path itself does here.
        let number = unsafe open(parent + ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return }
        defer { _ = close(number) }
        guard fsync(number) == 0 || errno == EINVAL else { throw .system(errno, "write \(parent)") }
    }

    // MARK: Rules

    /// What is wrong with the directory and those above it, the worst first.
    func problems() throws(KeyStoreError) -> [KeyStoreError] {
        guard let facts = try FileFacts(at: path) else { return [Self.missing(path)] }
        var problems = UnsafeFile.problems(of: path, facts, mode: Self.mode)
        // On a phone the container is the boundary; what lies above it is the system's, and not every part can be looked at.
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

    /// Tells whether a file of the store is there; throws when it is and is not its owner's alone.
    func has(_ name: StaticString) throws(KeyStoreError) -> Bool { try facts(of: name) != nil }

    /// What the system says about a file of the store, once it has passed every rule.
    func facts(of name: StaticString) throws(KeyStoreError) -> FileFacts? {
        guard let facts = try FileFacts(at: file(name)) else { return nil }
        if let problem = UnsafeFile.problems(of: file(name), facts).first { throw problem }
        return facts
    }

    // MARK: Verbs

    /// Keeps other processes out while files are made or replaced, for as long as `body` runs; a process that dies lets go.
    func withLock<R>(waiting milliseconds: Int32, _ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        let step: Int32 = 5
        let directory = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        var waited: Int32 = 0
        while flock(directory.number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system(errno, "lock \(path)") }
            guard waited < milliseconds else {
                throw KeyStoreError(
                    .storeBusy, "another process is making a store in \(path): try again when it is done")
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int(step) * 1_000_000)
            unsafe nanosleep(&pause, nil)
            waited += step
        }
        return try body()
    }

    /// Makes an empty file that is its owner's alone.
    func create(_ name: StaticString) throws(KeyStoreError) -> Descriptor {
        let descriptor = try Descriptor(file(name), O_WRONLY | O_CREAT | O_EXCL, mode: UnsafeFile.fileMode)
        // The process's umask may have taken bits away.
        guard fchmod(descriptor.number, UnsafeFile.fileMode) == 0 else {
            throw .system(errno, "protect \(file(name))")
        }
        return descriptor
    }

    func removeIfPresent(_ name: StaticString) throws(KeyStoreError) {
        guard unsafe unlink(file(name)) != 0, errno != ENOENT else { return }
        throw .system(errno, "remove \(file(name))")
    }

    /// Gives a finished file its name, in one step that is on the disk when this returns.
    func rename(_ name: StaticString, to final: StaticString) throws(KeyStoreError) {
        guard systemRename(file(name), file(final)) == 0 else { throw .system(errno, "write \(file(final))") }
        try Descriptor(path, O_RDONLY | O_DIRECTORY).synchronize()
    }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { unsafe rename(old, new) }

/// Why a file is unfit to hold secrets, with the command that fixes it.
enum UnsafeFile {
    static let fileMode: mode_t = 0o600

    /// Checks a file, or with a mode of its own the directory, that must be this user's alone.
    static func problems(of path: String, _ facts: FileFacts, mode: mode_t = fileMode) -> [KeyStoreError] {
        if facts.isSymbolicLink {
            let path = quoted(path)
            let fix = "put the file itself there: f=$(realpath \(path)) && rm \(path) && mv \"$f\" \(path)"
            return [error(path, "is a symbolic link", fix)]
        }
        guard facts.isRegular || facts.isDirectory else {
            let path = quoted(path)
            return [error(path, "is not a regular file", "move it away: mv \(path) \(path).away")]
        }
        var problems: [KeyStoreError] = []
        if facts.owner != geteuid() {
            let path = quoted(path)
            problems.append(
                error(
                    path, "belongs to user \(facts.owner), you are user \(geteuid())",
                    "run this as its owner, or if it is yours: chown \(geteuid()) \(path)"))
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

    /// Checks a directory above a store: whoever may write to it could put another store in the place of this one.
    ///
    /// A sticky directory, such as /tmp, lets nobody but its owner rename what belongs to another user.
    static func problems(ofParent path: String, _ facts: FileFacts) -> [KeyStoreError] {
        guard facts.owner == 0 || facts.owner == geteuid() else {
            return [
                error(
                    quoted(path), "belongs to user \(facts.owner), who can put another store in the place of this one",
                    "keep the store in a directory of yours, or if this one is yours: chown \(geteuid()) \(quoted(path))"
                )
            ]
        }
        guard facts.mode & S_ISVTX == 0 else { return [] }
        if facts.mode & S_IWOTH != 0 {
            return [error(quoted(path), "can be changed by everybody", "run: chmod o-w \(quoted(path))")]
        }
        // Many systems give each user a group of one, with the user's own number, and let it write.
        if facts.mode & S_IWGRP != 0, facts.group != getegid() || facts.group != geteuid() {
            return [
                error(quoted(path), "can be changed by group \(facts.group)", "run: chmod g-w \(quoted(path))")
            ]
        }
        return []
    }

    static func error(_ path: String, _ problem: String, _ fix: String) -> KeyStoreError {
        KeyStoreError(.unsafeStoreFile, "\(path) \(problem); \(fix)")
    }
}

/// A path as one word of a shell command.
func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
}
