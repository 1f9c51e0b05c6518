// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The contents of folders.
package enum Folder {
    package enum Kind {
        case folder, file
        /// A link, a device, or something that no longer exists.
        case other
    }

    /// The sorted names in a folder, without `.` and `..`; empty if it cannot be read.
    package static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// The kind of a path, or of the target of its link.
    package static func kind(of path: String, followingLinks: Bool = false) -> Kind {
        var status = stat()
        let result = followingLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard result == 0 else { return .other }
        return switch status.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFREG: .file
        default: .other
        }
    }

    /// Whether anything exists at a path, including a dangling link.
    package static func hasEntry(at path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Renames a file or a folder within a file system.
    package static func move(_ path: String, to new: String) throws(Failure) {
        guard unsafe rename(path, new) == 0 else {
            throw .failed("cannot write \(quoted(new)): \(SystemError.last.text)")
        }
    }

    /// Removes a file, or a folder with its contents. Links are removed, not followed. Errors are ignored.
    package static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}

// MARK: Paths

/// The folder part of a path, without a slash at its end; empty if there is none.
package func folder(of file: String) -> String {
    file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
}

/// The absolute path of what exists, without links.
package func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
}

package func isFile(_ file: String, below folder: String) -> Bool {
    folder.isEmpty || file.hasPrefix(folder + "/")
}

/// A private folder that is removed with its contents at the end.
package struct TemporaryFolder: ~Copyable {
    private let path: String

    /// - Parameter final: The path that the contents will have; by default they are temporary.
    package init(beside final: String? = nil) throws(Failure) {
        let temporary = SystemEnvironment.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let name = final ?? "\(temporary)/\(programName)"
        var template = "\(name)-XXXXXX".utf8CString
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        guard isMade else { throw .failed("cannot make a folder beside \(quoted(name)): \(SystemError.last.text)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Calls `body` with a new folder, and removes it afterwards.
    package consuming func whileItExists<R>(_ body: (String) throws -> R) rethrows -> R {
        try body(path)
    }

    deinit {
        Folder.remove(path)
    }
}

/// A path that programs in other folders can use; as it is if the current folder has none.
package func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = unsafe realpath(".", nil) else { return path }
    defer { unsafe free(current) }
    return unsafe "\(String(cString: current))/\(path)"
}
