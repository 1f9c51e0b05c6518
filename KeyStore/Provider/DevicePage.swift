internal import Pushcrypt

extension SQLiteKeyStore {
    /// The ids that follow `last`, in order, at most `count` of them; from the first for nil. The rows are not
    /// authenticated: who uses one reads the device.
    package func deviceIDs(after last: String?, count: Int) throws(KeyStoreError) -> [String] {
        let start = last == nil ? "" : "WHERE id > ?"
        let sql = "SELECT id FROM devices \(start) ORDER BY id LIMIT \(count)"
        return try readOnce { (store) throws(KeyStoreError) in
            try store.connection.rows(sql, last.map { [.text($0)] } ?? []) { (row) throws(KeyStoreError) in
                guard case .text(let id) = row[0] else { throw store.connection.damaged }
                return String(decoding: id, as: UTF8.self)
            }
        }
    }
}
