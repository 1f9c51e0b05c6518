#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

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
