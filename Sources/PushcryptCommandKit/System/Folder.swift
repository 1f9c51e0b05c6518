// The Darwin branches were not compiled and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What lies in a folder.
package enum Folder {
    package enum Kind {
        case folder, file
        /// A link, a device, something that is gone by now.
        case other
    }

    /// The names in a folder, sorted, without `.` and `..`; none for what cannot be read.
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

    /// What a path is, or what its link points to.
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

    /// Removes a file, or a folder and what is in it; links are removed, not followed. What cannot be removed stays.
    package static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}

// MARK: Paths

/// The folder of a file, without a slash at its end, as the path is written; empty when it names none.
package func folder(of file: String) -> String {
    file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
}

/// Whether a file lies in a folder or below it.
package func isFile(_ file: String, below folder: String) -> Bool {
    folder.isEmpty || file.hasPrefix(folder + "/")
}
