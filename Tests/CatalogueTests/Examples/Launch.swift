import Pushcrypt
import PushcryptKeyStore

/// Counts the outcomes of the last deliveries.
func outcomes(in folder: String) throws -> [String: Int] {
    try ExtensionDatabase(in: folder).journal.entries().reduce(into: [:]) { $0[$1.code, default: 0] += 1 }
}
