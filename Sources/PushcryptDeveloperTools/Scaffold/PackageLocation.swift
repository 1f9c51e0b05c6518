// The Darwin branches were not compiled and not run.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
package import PushcryptCommandKit

/// Where the manifest of a scaffold looks for this package.
package enum PackageLocation {
    /// Beside the app's project, when nothing is known.
    package static let usual = "../pushcrypt"

    /// The folder that the person names, which must hold this package.
    package static func given(_ path: String) throws(CommandFailure) -> String {
        guard let folder = resolved(path) else {
            throw .usage("--package-path: there is no folder \(quoted(path))")
        }
        guard isPackage(folder) else {
            throw .usage(
                "--package-path: \(quoted(path)) is not a copy of pushcrypt's sources",
                hint: "name the folder that has its Package.swift")
        }
        return folder
    }

    /// The folder in which the running program was built, if its sources are still there.
    package static var ofRunningProgram: String? {
        #if os(Linux)
            guard let program = resolved("/proc/self/exe") else { return nil }
            var place = folder(of: program)
            while !place.isEmpty, !isPackage(place) { place = folder(of: place) }
            return place.isEmpty ? nil : place
        #else
            // The manifest is of no use there.
            return nil
        #endif
    }

    private static func isPackage(_ folder: String) -> Bool {
        Folder.kind(of: folder + "/Package.swift") == .file
            && Folder.kind(of: folder + "/Sources/PushcryptService") == .folder
    }

    /// Absolute, without links.
    private static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
