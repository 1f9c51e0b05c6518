#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file that appears whole or not at all.
///
/// The bytes go to a hidden temporary file in the same directory, which `commit` stores and moves to its name in one
/// step. Without a commit the temporary file is removed; only a process that was killed leaves it behind. An existing
/// file is kept unless `force` says otherwise, and what is not a regular file is never replaced, symbolic links included.
package struct OutputFile: ~Copyable {
    private let path: String
    private let name: String
    private let temporaryName: String
    private let force: Bool
    private let directory: OpenFile
    private let file: OpenFile

    /// Creates the temporary file. What can be refused is refused here, before any work is done.
    ///
    /// `mode` is narrowed by the umask: 0o600 for secrets, 0o666 for the rest.
    package init(_ path: String, mode: UInt32, force: Bool) throws(CommandFailure) {
        let (parent, name) = Self.split(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .failed("\(quoted(path)) names no file") }
        let temporaryName = ".\(programName)-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let directory: OpenFile
        let file: OpenFile
        do throws(SystemError) {
            directory = try OpenFile(parent, flags: O_RDONLY | O_DIRECTORY)
        } catch {
            throw .failed("cannot write into \(quoted(parent)): \(error.text)")
        }
        try Self.refuseExisting(name, in: directory.descriptor, path: path, force: force)
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            file = try OpenFile(temporaryName, in: directory.descriptor, flags: flags, mode: mode)
        } catch {
            throw .failed("cannot write into \(quoted(parent)): \(error.text)")
        }
        self.path = path
        self.name = name
        self.temporaryName = temporaryName
        self.force = force
        self.directory = directory
        self.file = file
    }

    /// Takes what will be the file, for whoever writes it from several threads in turn.
    package var descriptor: Descriptor { file.descriptor }

    /// Writes a whole file.
    package static func write(_ bytes: Span<UInt8>, to path: String, mode: UInt32, force: Bool) throws(CommandFailure) {
        let output = try OutputFile(path, mode: mode, force: force)
        try output.write(bytes)
        try output.commit()
    }

    /// Appends to what will be the file.
    package func write(_ bytes: Span<UInt8>) throws(CommandFailure) {
        do throws(SystemError) { try file.descriptor.writeAll(bytes) } catch { throw failure(error) }
    }

    /// Brings the bytes to the disk, and gives the file its name.
    package consuming func commit() throws(CommandFailure) {
        guard fsync(file.descriptor.number) == 0 else { throw failure(.last) }
        if force { try rename() } else { try link() }
        // The file stands whole under its name; a directory that cannot be synchronised does not undo that.
        _ = fsync(directory.descriptor.number)
    }

    deinit {
        // After `link` this removes the second name, after `rename` it finds nothing.
        _ = unsafe unlinkat(directory.descriptor.number, temporaryName, 0)
    }

    /// A link refuses an existing name in the same step, whoever made it since `init`.
    private func link() throws(CommandFailure) {
        let number = directory.descriptor.number
        if unsafe linkat(number, temporaryName, number, name, 0) == 0 { return }
        let error = SystemError.last
        switch error.code {
        case EEXIST:
            try Self.refuseExisting(name, in: directory.descriptor, path: path, force: false)
            throw failure(error)
        case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS:
            // A file system without links, a memory stick for one: look again, then move.
            try Self.refuseExisting(name, in: directory.descriptor, path: path, force: false)
            try rename()
        default:
            throw failure(error)
        }
    }

    private func rename() throws(CommandFailure) {
        let number = directory.descriptor.number
        guard unsafe renameat(number, temporaryName, number, name) == 0 else { throw failure(.last) }
    }

    private func failure(_ error: SystemError) -> CommandFailure {
        .failed("cannot write \(quoted(path)): \(error.text)")
    }

    private static func refuseExisting(
        _ name: String, in directory: Descriptor, path: String, force: Bool
    ) throws(CommandFailure) {
        var status = stat()
        guard unsafe fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            let error = SystemError.last
            if error == .notFound { return }
            throw .failed("cannot write \(quoted(path)): \(error.text)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG where force: return
        case S_IFREG: throw .failed("\(quoted(path)) exists already", hint: "--force replaces it")
        case S_IFDIR: throw .failed("\(quoted(path)) is a directory")
        case S_IFLNK: throw .failed("\(quoted(path)) is a symbolic link", hint: "name the file that it points to")
        default: throw .failed("\(quoted(path)) is not a regular file", hint: "-o - writes to standard output")
        }
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let parent = String(path[..<slash])
        return (parent.isEmpty ? "/" : parent, String(path[path.utf8.index(after: slash)...]))
    }
}
