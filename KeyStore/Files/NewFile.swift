#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

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
