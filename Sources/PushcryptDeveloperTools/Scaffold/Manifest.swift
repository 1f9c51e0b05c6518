// The Darwin branches were not compiled and not run.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
internal import Pushcrypt
package import PushcryptCommandKit

/// The path of this package in the manifest of a scaffold.
package enum PackageLocation {
    /// The default: beside the app's project.
    package static let usual = "../pushcrypt"

    /// The folder that the user names, which must contain this package.
    package static func given(_ path: String) throws(CommandFailure) -> String {
        guard let folder = resolved(path) else {
            throw .usage("--package-path: there is no folder \(quoted(path))")
        }
        guard isPackage(folder) else {
            throw .usage(
                "--package-path: \(quoted(path)) is not a copy of pushcrypt's sources",
                hint: "name the folder that has its Package.swift")
        }
        guard isPlain(folder) else {
            throw .usage(
                "--package-path: \(quoted(folder)) has a control character, which a manifest cannot have",
                hint: "rename the folder")
        }
        return folder
    }

    /// The folder in which the running program was built, if its sources are still there.
    package static var ofRunningProgram: String? {
        #if os(Linux)
            guard let program = resolved("/proc/self/exe") else { return nil }
            var place = folder(of: program)
            while !place.isEmpty, !isPackage(place) { place = folder(of: place) }
            return place.isEmpty || !isPlain(place) ? nil : place
        #else
            // Not usable in a manifest.
            return nil
        #endif
    }

    /// The path of a package from the folder that a scaffold is written to, which need not exist.
    package static func path(to package: String, from folder: String) -> String {
        guard package.hasPrefix("/"), let parent = resolved(folderOrDot(of: folder)) else { return package }
        let name = folder.split(separator: "/").last.map(String.init) ?? ""
        let here = (resolved(folder) ?? "\(parent)/\(name)").split(separator: "/")
        let there = package.split(separator: "/")
        let shared = zip(here, there).prefix { $0 == $1 }.count
        let path = Array(repeating: "..", count: here.count - shared) + there.dropFirst(shared).map(String.init)
        return path.isEmpty ? "." : path.joined(separator: "/")
    }

    private static func folderOrDot(of path: String) -> String {
        let parent = folder(of: path)
        return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
    }

    private static func isPlain(_ path: String) -> Bool { !path.unicodeScalars.contains(where: \.isControl) }

    private static func isPackage(_ folder: String) -> Bool {
        Folder.kind(of: folder + "/Package.swift") == .file
            && Folder.kind(of: folder + "/Sources/PushcryptService") == .folder
    }

    /// The absolute path, without links.
    private static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

extension IOSScaffold {
    /// The path of this package from the folder of `manifest`.
    var packageFromLinux: String { package.hasPrefix("/") ? package : "../" + package }
}
