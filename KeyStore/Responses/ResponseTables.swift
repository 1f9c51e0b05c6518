internal import Pushcrypt

/// The rows of `responses.db`, inside one transaction.
struct ResponseTables {
    static let kind = RecoverableDatabase.Kind(
        noun: "a response file", name: "responses.db", newName: "responses.db.new",
        journals: ["responses.db.new-journal", "responses.db-journal"],
        // "PCRS"
        applicationID: 0x5043_5253, version: 1, isDurable: true, schema: schema)

    private static let schema: StaticString = """
        CREATE TABLE responses (
            id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, kept INTEGER NOT NULL, sealed BLOB NOT NULL UNIQUE);
        """

    /// A response as it lies in the file.
    struct Row {
        let keyID: KeyID
        let keptAt: Timestamp
        let sealed: Bytes
    }

    let connection: SQLiteConnection

    /// Oldest first. Never more than the file may hold, whoever has filled it.
    func rows() throws(KeyStoreError) -> [Row] {
        let rows = try connection.rows(
            "SELECT key_id, kept, sealed FROM responses ORDER BY id LIMIT \(ResponseFile.capacity)")
        var responses: [Row] = []
        for row in rows {
            guard case .integer(let key) = row[0], let key = UInt32(exactly: key), case .integer(let kept) = row[1],
                case .blob(let sealed) = row[2]
            else {
                throw connection.damaged
            }
            let keptAt = Timestamp(milliseconds: UInt64(bitPattern: kept))
            responses.append(Row(keyID: KeyID(value: key), keptAt: keptAt, sealed: sealed))
        }
        return responses
    }

    /// Puts in a response, and drops the oldest of too many; gives how many those were.
    func insert(_ sealed: Bytes, key: KeyID, at now: Timestamp) throws(KeyStoreError) -> Int {
        try connection.rows(
            "INSERT INTO responses (key_id, kept, sealed) VALUES (?, ?, ?)",
            [.integer(Int64(key.value)), .unsigned(now.milliseconds), .blob(sealed)])
        let dropped = try connection.integer(
            "SELECT max(0, count(*) - ?) FROM responses",
            [
                .integer(Int64(ResponseFile.capacity))
            ])
        try connection.rows(
            "DELETE FROM responses WHERE id IN (SELECT id FROM responses ORDER BY id LIMIT ?)", [.integer(dropped)])
        return Int(clamping: dropped)
    }

    /// By the sealed bytes, which no other row has, in no other file of this name either.
    func delete(_ sealed: Bytes) throws(KeyStoreError) {
        try connection.rows("DELETE FROM responses WHERE sealed = ?", [.blob(sealed)])
    }
}
