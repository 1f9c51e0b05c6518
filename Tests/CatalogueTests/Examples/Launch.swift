import Pushcrypt
import PushcryptKeyStore

/// Merges what messages have taught the extension, and counts the outcomes of the last deliveries.
func launch(_ keys: SQLiteKeyStore, folder: String, at now: Timestamp) throws -> [String: Int] {
    let database = ExtensionDatabase(in: folder)
    let merged = try database.merge(into: keys, at: now)
    if merged.conflicts > 0 {
        print("certificate-conflict: the provider key may be stolen")
    }
    _ = try keys.purgeRetiredDeviceKeys(at: now)
    return try database.journal.entries().reduce(into: [:]) { $0[$1.code, default: 0] += 1 }
}
