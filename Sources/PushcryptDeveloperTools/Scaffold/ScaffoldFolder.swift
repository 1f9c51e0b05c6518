// The Darwin branches were typechecked on Linux and not run.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
package import PushcryptCommandKit

/// The destination of a scaffold: a new folder, which appears complete or not at all, or an existing one, in which every file is
/// checked and stored before the first takes its place.
package struct ScaffoldFolder {
    /// The path, without slashes at its end.
    package let path: String
    private let exists: Bool

    /// Checks the destination. Throws if it exists, unless it is an empty folder, or `force` allows replacing files.
    package init(_ path: String, force: Bool) throws(CommandFailure) {
        var path = path
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        guard !path.isEmpty else { throw .usage("--output names no folder") }
        self.path = path
        switch Folder.kind(of: path, followingLinks: true) {
        case .folder:
            exists = true
            guard force || Folder.names(in: path).isEmpty else {
                throw .failed(
                    "the folder \(quoted(path)) is not empty",
                    hint:
                        "name another one, or add --force, which replaces only the files that this command writes"
                )
            }
        case .file: throw .failed("\(quoted(path)) is a file")
        case .other:
            var status = stat()
            guard unsafe lstat(path, &status) != 0 else { throw .failed("\(quoted(path)) is not a folder") }
            exists = false
        }
    }

    /// Checks an existing folder. Throws if it has one of the files, unless `force` allows replacing it.
    package init(existing path: String, for files: [ScaffoldFile], force: Bool) throws(CommandFailure) {
        guard Folder.kind(of: path, followingLinks: true) == .folder else {
            throw .failed("there is no folder \(quoted(path))")
        }
        try self.init(path, force: true)
        guard !force else { return }
        for file in files {
            var status = stat()
            if unsafe lstat("\(self.path)/\(file.path)", &status) == 0 {
                throw .failed(
                    "\(quoted("\(self.path)/\(file.path)")) exists",
                    hint: "add --force to replace the files that this command writes")
            }
        }
    }

    /// Writes every file.
    package func write(_ files: [ScaffoldFile]) throws(CommandFailure) {
        if exists { try replace(files) } else { try create(files) }
    }

    private func create(_ files: [ScaffoldFile]) throws(CommandFailure) {
        // Beside it, because a rename cannot cross file systems.
        let folder = (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + Self.temporaryName
        guard unsafe mkdir(folder, 0o777) == 0 else { throw Self.failure(path, .last) }
        do throws(CommandFailure) {
            for file in files { try Self.write(file, in: folder) }
            guard unsafe rename(folder, path) == 0 else { throw Self.failure(path, .last) }
        } catch {
            Folder.remove(folder)
            throw error
        }
    }

    private func replace(_ files: [ScaffoldFile]) throws(CommandFailure) {
        for file in files { try check(file) }
        let new = "\(path)/\(Self.temporaryName)"
        guard unsafe mkdir(new, 0o777) == 0 else { throw Self.failure(new, .last) }
        defer { Folder.remove(new) }
        for file in files { try Self.write(file, in: new) }
        var written: [String] = []
        for file in files {
            let folder = folder(of: file.path)
            if !folder.isEmpty { try Self.make("\(path)/\(folder)") }
            guard unsafe rename("\(new)/\(file.path)", "\(path)/\(file.path)") == 0 else {
                let text = "cannot write \(quoted("\(path)/\(file.path)")): \(SystemError.last.text)"
                // Another program has changed the folder since the check.
                throw CommandFailure(
                    .failed, text,
                    hints: written.isEmpty ? [] : ["already written: " + written.joined(separator: ", ")])
            }
            written.append(file.path)
        }
    }

    /// Throws if a file cannot have its place: what is there is of another kind, or its folder cannot be written to.
    private func check(_ file: ScaffoldFile) throws(CommandFailure) {
        let place = "\(path)/\(file.path)"
        var status = stat()
        if unsafe lstat(place, &status) == 0 {
            guard status.st_mode & S_IFMT == (file.isLink ? S_IFLNK : S_IFREG) else {
                throw .failed("\(quoted(place)) is not a \(file.isLink ? "symbolic link" : "regular file")")
            }
        }
        var parent = folder(of: place)
        while parent != path, unsafe lstat(parent, &status) != 0 { parent = folder(of: parent) }
        // Through a link, files would be written outside the folder.
        guard parent == path || Folder.kind(of: parent) == .folder else {
            throw .failed("\(quoted(parent)) is not a folder")
        }
        guard unsafe access(parent, W_OK | X_OK) == 0 else {
            throw .failed("cannot write into \(quoted(parent)): \(SystemError.last.text)")
        }
    }

    private static var temporaryName: String {
        ".\(programName)-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    private static func write(_ file: ScaffoldFile, in root: String) throws(CommandFailure) {
        let folder = folder(of: file.path)
        if !folder.isEmpty { try make("\(root)/\(folder)") }
        let path = "\(root)/\(file.path)"
        guard file.isLink else {
            return try OutputFile.write(file.bytes.span, to: path, mode: 0o666, force: false)
        }
        guard unsafe symlink(file.text, path) == 0 else {
            throw .failed("cannot create the link \(quoted(path)): \(SystemError.last.text)")
        }
    }

    /// Creates a folder and those above it in the scaffold.
    private static func make(_ path: String) throws(CommandFailure) {
        if unsafe mkdir(path, 0o777) == 0 { return }
        let parent = folder(of: path)
        if SystemError.last.code == ENOENT, !parent.isEmpty {
            try make(parent)
            if unsafe mkdir(path, 0o777) == 0 { return }
        }
        let error = SystemError.last
        // Through a link, files would be written outside the folder.
        guard error.code != EEXIST || Folder.kind(of: path) != .folder else { return }
        throw failure(path, error)
    }

    private static func failure(_ path: String, _ error: SystemError) -> CommandFailure {
        .failed("cannot create the folder \(quoted(path)): \(error.text)")
    }
}
