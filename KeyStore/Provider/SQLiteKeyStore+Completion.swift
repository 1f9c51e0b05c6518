internal import Pushcrypt

// What a prompt offers. The rows are not authenticated: who uses a name reads what it stands for.
extension SQLiteKeyStore {
    /// The first ids that begin so, byte for byte; none that no store takes, such as one that would pass for a key.
    package func deviceIDs(startingWith start: String, count: Int) throws(KeyStoreError) -> [String] {
        let sql = "SELECT id FROM devices WHERE id >= ? ORDER BY id LIMIT \(count)"
        return try texts(sql, startingWith: start).filter(DeviceID.isAllowed)
    }

    /// The first users that begin so, byte for byte.
    package func users(startingWith start: String, count: Int) throws(KeyStoreError) -> [String] {
        let sql = "SELECT DISTINCT user FROM devices WHERE user >= ? ORDER BY user LIMIT \(count)"
        return try texts(sql, startingWith: start).filter(StoreName.isAllowed)
    }

    private func texts(_ sql: String, startingWith start: String) throws(KeyStoreError) -> [String] {
        try readOnce { (store) throws(KeyStoreError) in
            try store.connection.rows(sql, [.text(start)]).compactMap { row in
                guard case .text(let bytes) = row[0] else { return nil }
                return String(exactly: bytes)
            }
        }.filter { $0.utf8.starts(with: start.utf8) }
    }
}
