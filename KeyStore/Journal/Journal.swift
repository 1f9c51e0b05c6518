internal import Pushcrypt

/// The last deliveries of an extension, for debugging. Bounded; without content and secrets.
public struct Journal: Sendable {
    /// The maximum number of entries; the oldest is dropped first.
    public static let capacity = 256

    let database: ExtensionDatabase

    /// Adds an entry; returns the error that prevented it, for the developer: it never stops a delivery.
    @discardableResult
    public func append(_ entry: JournalEntry) -> KeyStoreError? {
        do throws(KeyStoreError) {
            try database.write(at: entry.time) { (connection) throws(KeyStoreError) in
                try JournalTable(connection: connection).append(entry)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Returns every entry, oldest first; none if there is no file, or a damaged one.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeBusy`, `diskFull`,
    ///   `inputOutput`, `newerVersion`.
    public func entries() throws(KeyStoreError) -> [JournalEntry] {
        let entries = try database.read { (connection) throws(KeyStoreError) in
            try JournalTable(connection: connection).entries()
        }
        return entries ?? []
    }
}

/// The rows of the journal, inside one transaction.
struct JournalTable {
    static let schema: StaticString = """
        CREATE TABLE journal (
            id INTEGER PRIMARY KEY, time INTEGER NOT NULL, fingerprint INTEGER, code TEXT NOT NULL, key TEXT NOT NULL,
            milliseconds INTEGER NOT NULL);
        """

    let connection: SQLiteConnection

    func append(_ entry: JournalEntry) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO journal (time, fingerprint, code, key, milliseconds) VALUES (?, ?, ?, ?, ?)",
            [
                .unsigned(entry.time.milliseconds), entry.fingerprint.map { .integer(Int64($0.value)) } ?? .null,
                .text(entry.code), .text(entry.keyState.rawValue), .unsigned(entry.milliseconds),
            ])
        try connection.rows(
            "DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - ?", [.integer(Int64(Journal.capacity))]
        )
    }

    /// Returns the entries, oldest first, without those that no version writes.
    func entries() throws(KeyStoreError) -> [JournalEntry] {
        let rows = try connection.rows(
            """
            SELECT time, fingerprint, code, key, milliseconds FROM
            (SELECT * FROM journal ORDER BY id DESC LIMIT \(Journal.capacity)) ORDER BY id
            """)
        var entries: [JournalEntry] = []
        for row in rows {
            guard case .integer(let time) = row[0], case .text(let code) = row[2], case .text(let key) = row[3],
                case .integer(let milliseconds) = row[4],
                let state = JournalEntry.KeyState(rawValue: String(decoding: key, as: UTF8.self))
            else { continue }
            entries.append(
                JournalEntry(
                    time: Timestamp(milliseconds: UInt64(clamping: time)), fingerprint: Self.fingerprint(row[1]),
                    code: String(decoding: code, as: UTF8.self), keyState: state,
                    milliseconds: UInt64(clamping: milliseconds)))
        }
        return entries
    }

    private static func fingerprint(_ value: SQLiteValue) -> EnvelopeFingerprint? {
        guard case .integer(let number) = value, let number = UInt32(exactly: number) else { return nil }
        return EnvelopeFingerprint(value: number)
    }
}
