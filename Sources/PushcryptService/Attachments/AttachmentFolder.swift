internal import Foundation

/// Where attachments lie between their download and the delivery: a folder for each, in one of the extension's own. Not run
/// on Apple systems.
struct AttachmentFolder: Sendable {
    /// In seconds. A delivery takes half a minute, and the system takes the files over with it: what is older was left by a
    /// process that was ended.
    static let leftoverAge = 120.0

    private let root: URL

    init(_ root: URL = FileManager.default.temporaryDirectory) {
        self.root = root.appendingPathComponent("pushcrypt-attachments", isDirectory: true)
    }

    /// A place for one file, which is not made yet.
    func place() -> URL { root.appendingPathComponent(UUID().uuidString, isDirectory: true) }

    /// Removes a file, and its place with it.
    static func remove(_ file: URL) {
        try? FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    func removeLeftovers() {
        let places = try? FileManager.default.contentsOfDirectory(
            at: root, includingPropertiesForKeys: [.contentModificationDateKey])
        for place in places ?? [] where place.age > Self.leftoverAge {
            try? FileManager.default.removeItem(at: place)
        }
    }
}

extension URL {
    /// Seconds since what lies here was changed; 0 when nothing can be said.
    var age: Double {
        let changed = try? resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        return changed.map { Date().timeIntervalSince($0) } ?? 0
    }
}

extension FileManager {
    /// Makes a directory that is its owner's alone, and can be read from the first unlock on, unless it is there.
    func makePrivateDirectory(at url: URL) throws {
        try createDirectory(
            at: url, withIntermediateDirectories: true, attributes: Self.attributes(permissions: 0o700))
    }

    /// Makes an empty file that is its owner's alone, and can be read from the first unlock on.
    func makePrivateFile(at url: URL) throws -> URL {
        guard createFile(atPath: url.path, contents: nil, attributes: Self.attributes(permissions: 0o600)) else {
            throw CocoaError(.fileWriteUnknown)
        }
        return url
    }

    private static func attributes(permissions: Int) -> [FileAttributeKey: Any] {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions]
        #if !os(Linux)
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        return attributes
    }
}
