// The Darwin branches were typechecked on Linux and not run.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
package import PushcryptCommandKit

/// The destination of a scaffold: a new folder, which appears complete or not at all, or an existing one, which gets new files only.
package struct ScaffoldFolder {
    /// The path, without slashes at its end.
    package let path: String
    private let exists: Bool

    /// Checks a folder to write. Throws if it exists, unless it is empty.
    package init(new path: String) throws(Failure) {
        self.path = try Self.name(path)
        switch Folder.kind(of: self.path, followingLinks: true) {
        case .folder:
            exists = true
            guard Folder.names(in: self.path).isEmpty else {
                throw .failed("the folder \(quoted(self.path)) is not empty", hint: "name another one")
            }
        case .file: throw .failed("\(quoted(self.path)) is a file")
        case .other:
            guard !Folder.hasEntry(at: self.path) else { throw .failed("\(quoted(self.path)) is not a folder") }
            exists = false
        }
    }

    /// Checks an existing folder, to write into.
    package init(existing path: String) throws(Failure) {
        guard Folder.kind(of: path, followingLinks: true) == .folder else {
            throw .failed("there is no folder \(quoted(path))")
        }
        self.path = try Self.name(path)
        exists = true
    }

    private static func name(_ path: String) throws(Failure) -> String {
        var path = path
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        guard !path.isEmpty else { throw .usage("--output names no folder") }
        return path
    }

    /// Writes every file; none if one of them is there already, or cannot be written.
    package func write(_ files: [ScaffoldFile]) throws(Failure) {
        if exists { try add(files) } else { try create(files) }
    }

    private func create(_ files: [ScaffoldFile]) throws(Failure) {
        // Beside it, because a rename cannot cross file systems.
        let name = ".\(programName)-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let folder = (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + name
        guard unsafe mkdir(folder, 0o777) == 0 else { throw Self.failure(path) }
        do throws(Failure) {
            for file in files { try Self.write(file, in: folder) }
            guard unsafe rename(folder, path) == 0 else { throw Self.failure(path) }
        } catch {
            Folder.remove(folder)
            throw error
        }
    }

    private func add(_ files: [ScaffoldFile]) throws(Failure) {
        for file in files {
            let place = "\(path)/\(file.path)"
            guard !Folder.hasEntry(at: place) else {
                throw .failed("\(quoted(place)) exists", hint: "move it away: this command replaces no file")
            }
        }
        var written: [String] = []
        do throws(Failure) {
            for file in files {
                try Self.write(file, in: path)
                written.append("\(path)/\(file.path)")
            }
        } catch {
            for place in written { unsafe unlink(place) }
            throw error
        }
    }

    private static func write(_ file: ScaffoldFile, in root: String) throws(Failure) {
        let path = "\(root)/\(file.path)"
        try make(folder(of: path))
        guard file.isLink else {
            return try OutputFile.write(file.bytes.span, to: path, mode: 0o666, force: false)
        }
        guard unsafe symlink(file.text, path) == 0 else {
            throw .failed("cannot create the link \(quoted(path)): \(SystemError.last.text)")
        }
    }

    /// Creates a folder and those above it.
    private static func make(_ path: String) throws(Failure) {
        if unsafe mkdir(path, 0o777) == 0 || SystemError.last.code == EEXIST { return }
        guard SystemError.last.code == ENOENT, !folder(of: path).isEmpty else { throw failure(path) }
        try make(folder(of: path))
        guard unsafe mkdir(path, 0o777) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        .failed("cannot create the folder \(quoted(path)): \(SystemError.last.text)")
    }
}
