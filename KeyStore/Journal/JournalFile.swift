internal import Pushcrypt

/// The last deliveries of an extension, for debugging: the file `journal.db` beside the replay guard.
///
/// Bounded; without content and secrets. Any number of threads and processes may use one file, and be killed at any
/// moment.
public final class JournalFile: Sendable {
    /// The maximum number of entries; the oldest is dropped first.
    public static let capacity = 256

    private let file: Locked<RecoverableDatabase>
    /// Ends, from any thread, an entry that is being written, so that no lock is held while the process is suspended.
    package let interruption = SQLiteInterruption()

    /// Uses the file in this directory, which is created with the first entry; a damaged one is recreated.
    public init(in directory: String) {
        file = Locked(
            RecoverableDatabase(
                JournalTable.kind, in: directory, busyTimeout: Self.busyTimeout, interruption: interruption))
    }

    /// How long an entry waits for other processes, in milliseconds: less than the replay guard, because a delivery
    /// matters more than its entry.
    private static let busyTimeout: Int32 = 500

    /// Adds an entry; returns the error that prevented it, for the developer: it never stops a delivery.
    @discardableResult
    public func append(_ entry: JournalEntry) -> KeyStoreError? {
        do throws(KeyStoreError) {
            try file.withLock { (file) throws(KeyStoreError) in
                try file.write { (connection) throws(KeyStoreError) in
                    try JournalTable(connection: connection).append(entry)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Returns every entry, oldest first; none if there is no file, or a damaged one was recreated.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `unsafeStoreFile`, `storeBusy`, `diskFull`,
    ///   `inputOutput`, `newerVersion`.
    public func entries() throws(KeyStoreError) -> [JournalEntry] {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.readOrRecreate { (connection) throws(KeyStoreError) in
                try JournalTable(connection: connection).entries()
            } ?? []
        }
    }
}

/// The rows of `journal.db`, inside one transaction.
struct JournalTable {
    static let kind = RecoverableDatabase.Kind(
        noun: "a journal", name: "journal.db", newName: "journal.db.new",
        journals: ["journal.db.new-journal", "journal.db-journal"],
        // "PCJN"
        applicationID: 0x5043_4A4E, version: 1, isDurable: false, schema: schema)

    private static let schema: StaticString = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, time INTEGER NOT NULL, fingerprint INTEGER, code TEXT NOT NULL, key TEXT NOT NULL,
            milliseconds INTEGER NOT NULL);
        """

    let connection: SQLiteConnection

    func append(_ entry: JournalEntry) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO entries (time, fingerprint, code, key, milliseconds) VALUES (?, ?, ?, ?, ?)",
            [
                .unsigned(entry.time.milliseconds), entry.fingerprint.map { .integer(Int64($0.value)) } ?? .null,
                .text(entry.code), .text(entry.keyState.rawValue), .unsigned(entry.milliseconds),
            ])
        try connection.rows(
            "DELETE FROM entries WHERE id <= (SELECT max(id) FROM entries) - ?", [.integer(Int64(JournalFile.capacity))]
        )
    }

    func entries() throws(KeyStoreError) -> [JournalEntry] {
        let rows = try connection.rows(
            """
            SELECT time, fingerprint, code, key, milliseconds FROM
            (SELECT * FROM entries ORDER BY id DESC LIMIT \(JournalFile.capacity)) ORDER BY id
            """)
        var entries: [JournalEntry] = []
        for row in rows {
            guard case .integer(let time) = row[0], case .text(let code) = row[2], case .text(let key) = row[3],
                case .integer(let milliseconds) = row[4],
                let state = JournalEntry.KeyState(rawValue: String(decoding: key, as: UTF8.self))
            else { throw connection.damaged }
            entries.append(
                JournalEntry(
                    time: Timestamp(milliseconds: UInt64(clamping: time)), fingerprint: try fingerprint(row[1]),
                    code: String(decoding: code, as: UTF8.self), keyState: state,
                    milliseconds: UInt64(clamping: milliseconds)))
        }
        return entries
    }

    private func fingerprint(_ value: SQLiteValue) throws(KeyStoreError) -> EnvelopeFingerprint? {
        if value == .null { return nil }
        guard case .integer(let number) = value, let number = UInt32(exactly: number) else { throw connection.damaged }
        return EnvelopeFingerprint(value: number)
    }
}
