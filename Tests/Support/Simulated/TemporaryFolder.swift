import Foundation
import Pushcrypt

/// A folder of one test, its owner's alone, removed with its last reference.
///
/// In memory where the system has such a place: what is tested here is what the files hold, and a disk would spend nine
/// tenths of the time on waiting.
final class TemporaryFolder: Sendable {
    private static let root: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        return FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    }()

    let path: String

    init() throws {
        path = Self.root.appendingPathComponent("pushcrypt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    func file(_ name: String) -> URL { URL(fileURLWithPath: path(of: name)) }

    func path(of name: String) -> String { "\(path)/\(name)" }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension TemporaryFolder {
    /// The files as they are now; the marks of readers do not outlive their processes.
    func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(at: file(name), to: copy.file(name))
        }
        return copy
    }
}

/// The bytes of every file in a store's directory, but for `keystore.db-shm`: it has the marks of readers and no data.
struct StoreFiles {
    let bytes: [String: Data]

    init(in folder: TemporaryFolder) throws {
        var bytes: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
            bytes[name] = try Data(contentsOf: folder.file(name))
        }
        self.bytes = bytes
    }

    /// The names of the files that differ.
    func changes(since before: StoreFiles) -> [String] {
        Set(bytes.keys).union(before.bytes.keys).filter { bytes[$0] != before.bytes[$0] }.sorted()
    }

    /// Tells whether a file has these bytes, or either half of them, anywhere.
    func contain(_ secret: ContiguousArray<UInt8>) -> Bool {
        let half = secret.count / 2
        let pieces = [Data(secret.prefix(half)), Data(secret.suffix(half))]
        return bytes.values.contains { file in pieces.contains { file.range(of: $0) != nil } }
    }
}
