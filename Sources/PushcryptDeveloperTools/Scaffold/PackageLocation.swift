internal import Pushcrypt
package import PushcryptCommandKit

/// Where a scaffold's project and manifest find this package.
package struct PackageLocation: Sendable {
    /// A folder, absolute or from the scaffold's, or an address.
    package let place: String
    /// The version from which the package at an address is taken; nil for a folder.
    let version: String?
    /// The place, from the project's folder.
    let fromProject: String

    private init(_ place: String, version: String?, fromProject: String) {
        (self.place, self.version, self.fromProject) = (place, version, fromProject)
    }

    /// A folder, for a scaffold in another one, which need not exist.
    package init(folder place: String, for scaffold: String = "") {
        self.init(place, version: nil, fromProject: Self.path(to: place, from: scaffold))
    }

    /// Checks what the user has given: an address, of which the scaffold takes `version` or later, or the folder of this package.
    package init(_ text: String, version: String, for scaffold: String) throws(Failure) {
        guard text.hasPrefix("https://") else {
            self.init(folder: try Self.given(text), for: scaffold)
            return
        }
        let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit || "-._~/:%@".utf8.contains($0) }
        guard isPlain, !text.hasSuffix("/") else {
            throw .usage("--package: \(quoted(text)) is not the address of a repository")
        }
        self.init(text, version: version, fromProject: text)
    }

    /// The default if the sources of the running program are gone: beside the app's project.
    package static let usual = "../pushcrypt"

    /// The folder in which the running program was built, if its sources are still there.
    package static var ofRunningProgram: String? {
        #if os(Linux)
            guard let program = SystemEnvironment.program else { return nil }
            var place = folder(of: program)
            while !place.isEmpty, !isPackage(place) { place = folder(of: place) }
            return place.isEmpty || !isPlain(place) ? nil : place
        #else
            // Not usable in a manifest.
            return nil
        #endif
    }

    /// The place, from the folder `Linux`.
    var fromLinux: String { version != nil || place.hasPrefix("/") ? place : "../" + place }

    /// The place as a text in a project.
    var inProject: String {
        var text = "\""
        for character in fromProject { text += "\"\\".contains(character) ? "\\\(character)" : "\(character)" }
        return text + "\""
    }

    /// The package's name in a manifest: the last part of an address.
    var identity: String {
        guard version != nil, let name = place.split(separator: "/").last else { return "pushcrypt" }
        return String(name.hasSuffix(".git") ? name.dropLast(4) : name)
    }

    private static func given(_ path: String) throws(Failure) -> String {
        guard let folder = resolved(path) else {
            throw .usage("--package: there is no folder \(quoted(path))", hint: "an address begins with https://")
        }
        guard isPackage(folder) else {
            throw .usage(
                "--package: \(quoted(path)) is not a copy of pushcrypt's sources",
                hint: "name the folder that has its Package.swift")
        }
        guard isPlain(folder) else {
            throw .usage(
                "--package: \(quoted(folder)) has a control character, which a manifest cannot have",
                hint: "rename the folder")
        }
        return folder
    }

    private static func path(to package: String, from folder: String) -> String {
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
}
