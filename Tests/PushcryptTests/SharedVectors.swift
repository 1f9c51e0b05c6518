import Foundation

/// Published test vectors that are not part of this repository.
///
/// They lie beside the checkout, in `shared/vectors`, or where PUSHCRYPT_SHARED_VECTORS says. A clone without them runs
/// everything that is committed and says loudly what it skipped; a folder that is there, or was named, must be
/// complete.
enum SharedVectors {
    private static let named = ProcessInfo.processInfo.environment["PUSHCRYPT_SHARED_VECTORS"]

    private static let root: URL =
        named.map { URL(fileURLWithPath: $0, isDirectory: true) }
        ?? URL(fileURLWithPath: #filePath)  // PACKAGE/Tests/PushcryptTests/SharedVectors.swift
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("shared/vectors", isDirectory: true)

    /// The bytes of one file, or `nil` after saying that it was skipped.
    static func file(_ name: String) throws -> ContiguousArray<UInt8>? {
        guard isPresent(for: name) else { return nil }
        return ContiguousArray(try Data(contentsOf: root.appendingPathComponent(name)))
    }

    /// The bytes of one file that the folder need not have, or `nil` after saying that it was skipped.
    static func fileIfPresent(_ name: String) throws -> ContiguousArray<UInt8>? {
        guard FileManager.default.fileExists(atPath: root.appendingPathComponent(name).path) else {
            print("SKIPPED: \(name): not in \(root.path)")
            return nil
        }
        return try file(name)
    }

    /// The files of one folder by name, in order, or `nil` after saying that they were skipped.
    static func folder(_ name: String) throws -> [(name: String, bytes: ContiguousArray<UInt8>)]? {
        guard isPresent(for: name) else { return nil }
        let folder = root.appendingPathComponent(name, isDirectory: true)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
            (file, ContiguousArray(try Data(contentsOf: folder.appendingPathComponent(file))))
        }
    }

    private static func isPresent(for name: String) -> Bool {
        if named != nil || FileManager.default.fileExists(atPath: root.path) { return true }
        print("SKIPPED: \(name): no vectors in \(root.path); set PUSHCRYPT_SHARED_VECTORS to the folder that has them")
        return false
    }
}
