import Foundation
import Pushcrypt

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
    func contain(_ secret: Bytes) -> Bool {
        let half = secret.count / 2
        let pieces = [Data(secret.prefix(half)), Data(secret.suffix(half))]
        return bytes.values.contains { file in pieces.contains { file.range(of: $0) != nil } }
    }
}
