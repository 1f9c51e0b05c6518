import Pushcrypt
import PushcryptKeyStore

/// Merges the changes made by messages, and counts the outcomes of the last deliveries.
func launch(_ keys: SQLiteKeyStore, folder: String, at now: Timestamp) throws -> [String: Int] {
    let merged = try StatementFile(in: folder).merge(into: keys, at: now)
    if merged.conflicts > 0 {
        print("rotation-conflict: an old key of the provider's may be stolen")
    }
    _ = try keys.purgeRetiredDeviceKeys(at: now)
    return try JournalFile(in: folder).entries().reduce(into: [:]) { $0[$1.code, default: 0] += 1 }
}
