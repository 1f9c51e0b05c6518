#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// An output file that appears complete or not at all.
///
/// The bytes go to a hidden temporary file in the same directory, which `commit` stores and renames in one step. Without a
/// commit the temporary file is removed; only a killed process leaves it behind. An existing file is kept unless `force` is
/// true. A pipe or a device gets the bytes as they come. A link stays one, and what it points to is written; but a secret
/// goes to a regular file only, under its own name.
package struct OutputFile: ~Copyable {
    private let path: String
    private let name: String
    /// Nil for a pipe or a device.
    private let temporaryName: String?
    private let force: Bool
    private let directory: OpenFile
    private let file: OpenFile

    /// Creates the temporary file. Errors that can be known in advance are thrown here, before any work.
    ///
    /// - Parameter mode: 0o600 for secrets, otherwise 0o666; the umask applies.
    package init(_ given: String, mode: UInt32, force: Bool) throws(Failure) {
        let isSecret = mode & 0o077 == 0
        let path = isSecret ? given : Self.target(of: given)
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
        let isStream = !isSecret && Self.isStream(path)
        if !isStream { try Self.refuseExisting(name, in: directory.descriptor, path: path, force: force) }
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            file =
                try isStream
                ? OpenFile(path, flags: O_WRONLY | O_NOCTTY)
                : OpenFile(temporaryName, in: directory.descriptor, flags: flags, mode: mode)
        } catch {
            throw .failed("cannot write \(isStream ? quoted(path) : "into \(quoted(parent))"): \(error.text)")
        }
        self.path = path
        self.name = name
        self.temporaryName = isStream ? nil : temporaryName
        self.force = force
        self.directory = directory
        self.file = file
    }

    /// Whether another user has put a link or a pipe into a folder that everybody shares, such as /tmp. Linux does not follow
    /// such links either (`fs.protected_symlinks`).
    private static func isPlanted(_ path: String) -> Bool {
        let (parent, _) = split(path)
        var (status, folder) = (stat(), stat())
        guard unsafe lstat(path, &status) == 0, unsafe stat(parent, &folder) == 0 else {
            return false
        }
        let isShared = folder.st_mode & S_ISVTX != 0 && folder.st_mode & S_IWOTH != 0
        return isShared && status.st_uid != geteuid() && status.st_uid != folder.st_uid
    }

    /// The target of a link; any other path, and a link that leads nowhere, as it is.
    private static func target(of path: String) -> String {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, !isPlanted(path),
            let target = unsafe realpath(path, nil)
        else { return path }
        defer { unsafe free(target) }
        return unsafe String(cString: target)
    }

    /// Whether the path is of a pipe or a device, which is written and not replaced.
    private static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, !isPlanted(path) else { return false }
        return [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    }

    /// The temporary file, for several threads that write in turn.
    package var descriptor: Descriptor { file.descriptor }

    /// Writes a whole file.
    package static func write(_ bytes: Span<UInt8>, to path: String, mode: UInt32, force: Bool) throws(Failure) {
        let output = try OutputFile(path, mode: mode, force: force)
        try output.write(bytes)
        try output.commit()
    }

    /// Appends to the file.
    package func write(_ bytes: Span<UInt8>) throws(Failure) {
        do throws(SystemError) { try file.descriptor.writeAll(bytes) } catch { throw failure(error) }
    }

    /// Writes the bytes to the disk, and gives the file its name.
    package consuming func commit() throws(Failure) {
        guard let temporaryName else { return }
        guard fsync(file.descriptor.number) == 0 else { throw failure(.last) }
        if force { try rename(temporaryName) } else { try link(temporaryName) }
        // The file is complete under its name, even if its directory cannot be synchronised.
        _ = fsync(directory.descriptor.number)
    }

    deinit {
        // After `link` this removes the second name; after `rename` there is nothing to remove.
        if let temporaryName { _ = unsafe unlinkat(directory.descriptor.number, temporaryName, 0) }
    }

    /// Links the file to its name, which fails if another program has created that name since `init`.
    private func link(_ temporaryName: String) throws(Failure) {
        let number = directory.descriptor.number
        if unsafe linkat(number, temporaryName, number, name, 0) == 0 { return }
        let error = SystemError.last
        switch error.code {
        case EEXIST:
            try Self.refuseExisting(name, in: directory.descriptor, path: path, force: false)
            throw failure(error)
        case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS:
            // A file system without links, such as a memory stick: check again, then rename.
            try Self.refuseExisting(name, in: directory.descriptor, path: path, force: false)
            try rename(temporaryName)
        default:
            throw failure(error)
        }
    }

    private func rename(_ temporaryName: String) throws(Failure) {
        let number = directory.descriptor.number
        guard unsafe renameat(number, temporaryName, number, name) == 0 else { throw failure(.last) }
    }

    private func failure(_ error: SystemError) -> Failure {
        .failed("cannot write \(quoted(path)): \(error.text)")
    }

    private static func refuseExisting(
        _ name: String, in directory: Descriptor, path: String, force: Bool
    ) throws(Failure) {
        var status = stat()
        guard unsafe fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            let error = SystemError.last
            if error == .notFound { return }
            throw .failed("cannot write \(quoted(path)): \(error.text)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG where force: return
        case S_IFREG: throw .usage("\(quoted(path)) exists already", hint: "--force replaces it")
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
