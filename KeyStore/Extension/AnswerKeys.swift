package import Pushcrypt

/// The keys with which the user can still answer messages. Each is sealed to the device key that opened its message, as
/// kept responses are.
///
/// A key is deleted when the app is done with the response, when another message takes the notification's place, when the
/// message is withdrawn, and 31 days after it was sealed. The file alone reveals how many messages can be answered, and
/// when they were sealed. A writer of the file can only prevent answers, or have them sealed for
/// themselves.
/// (`Docs/FormatRecords.md`, Q-3)
package struct AnswerKeys: Sendable {
    /// The maximum number of keys; beyond it, the one of the oldest message is dropped.
    package static let capacity = 256

    private static let label: StaticString = "pushcrypt/1 kept answer key"

    let database: ExtensionDatabase

    /// A key, with what an answer tells of its message.
    package struct Kept: Sendable {
        package let key: AnswerKey
        /// The key that opened the message, which names the device in the answer.
        package let device: DevicePublicKey
        package let messageID: MessageID
        package let sentAt: Timestamp
        /// The answer that was given, to be given again.
        package let given: Bytes?
    }

    /// A key, sealed to a device key: a row of the transaction that hands its message over.
    package struct Sealed: Sendable {
        fileprivate let row: AnswerTable.Row

        /// Seals a key.
        ///
        /// - Throws: `inputOutput` for a device key that nothing can be sealed to.
        package init(
            _ key: AnswerKey, of message: ReplayMessage, openedWith device: DevicePublicKey
        ) throws(KeyStoreError) {
            let plain = key.withBytes { Ephemeral(message.id.bytes, $0, []) }
            let sealed: Bytes
            do throws(SodiumRefusal) {
                sealed = try plain.withSpan { (plain) throws(SodiumRefusal) in
                    try SealedNote.seal(
                        plain, to: device, label: AnswerKeys.label,
                        authenticating: AnswerKeys.named(message.mark, message.sentAt).span)
                }
            } catch {
                throw KeyStoreError(.inputOutput, "an answer key could not be sealed to key \(device.id)")
            }
            row = AnswerTable.Row(
                mark: message.mark, request: message.request, keyID: device.id, sentAt: message.sentAt,
                sealed: sealed, given: nil)
        }

        /// Keeps the key, unless its message is too old to be answered.
        func write(to connection: SQLiteConnection, at now: Timestamp) throws(KeyStoreError) {
            let table = AnswerTable(connection: connection)
            try table.insert(row)
            try table.prune([], at: now)
        }
    }

    /// Returns the key of a message; nil if there is none any more. One that cannot be opened, because its device key was
    /// purged or it is damaged, is deleted.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeBusy`, `diskFull`, `inputOutput`, `newerVersion`, and
    ///   the errors of the key store, `storeLocked` before the first unlock; nothing is deleted then.
    package func key(
        of message: MessageMark, openedWith keys: any DeviceStore, at now: Timestamp
    ) throws(KeyStoreError) -> Kept? {
        let found = try database.read { (connection) throws(KeyStoreError) in
            try AnswerTable(connection: connection).row(of: message)
        }
        guard let row = found ?? nil else { return nil }
        guard now <= row.sentAt.adding(AnswerKey.life), let kept = Self.open(row, with: try keys.state(), at: now)
        else {
            try remove(message)
            return nil
        }
        return kept
    }

    /// Has a key stay if another message takes the notification's place, because the user has responded already.
    package func hold(_ message: MessageMark) throws(KeyStoreError) {
        try change("UPDATE answers SET request = x'' WHERE mark = ?", .text(message.text))
    }

    /// Remembers an answer, so that a repeated response is the same answer.
    package func remember(_ given: Bytes, to message: MessageMark) throws(KeyStoreError) {
        try change("UPDATE answers SET given = ? WHERE mark = ?", .blob(given), .text(message.text))
    }

    /// Deletes the key of a message.
    package func remove(_ message: MessageMark) throws(KeyStoreError) {
        try change(AnswerTable.delete, .text(message.text))
    }

    /// Deletes the keys of messages that can no longer be answered.
    package func prune(at now: Timestamp) throws(KeyStoreError) {
        try database.writeIfPresent { (connection) throws(KeyStoreError) in
            try AnswerTable(connection: connection).prune([], at: now)
        }
    }

    private func change(_ sql: String, _ values: SQLiteValue...) throws(KeyStoreError) {
        try database.writeIfPresent { (connection) throws(KeyStoreError) in try connection.rows(sql, values) }
    }

    private static func named(_ message: MessageMark, _ sentAt: Timestamp) -> Bytes {
        var bytes = Bytes(message.text.utf8)
        bytes.append(bigEndian: sentAt.milliseconds)
        return bytes
    }

    private static func open(_ row: AnswerTable.Row, with state: DeviceState, at now: Timestamp) -> Kept? {
        guard let device = try? state.key(row.keyID, at: now)?.key.deviceKey(),
            let bytes = try? SealedNote.openSecret(
                row.sealed.span, with: device, label: label, authenticating: named(row.mark, row.sentAt).span)
        else { return nil }
        return bytes.withSpan { bytes in
            guard bytes.count == MessageID.length + AnswerKey.length,
                let id = MessageID(bytes: bytes.extracting(0..<MessageID.length)),
                let key = AnswerKey(bytes: bytes.extracting(MessageID.length..<bytes.count))
            else { return nil }
            return Kept(
                key: key, device: device.publicKey, messageID: id, sentAt: row.sentAt, given: row.given)
        }
    }
}

/// The rows of answer keys, inside one transaction.
struct AnswerTable {
    static let schema: StaticString = """
        CREATE TABLE answers (
            mark TEXT PRIMARY KEY NOT NULL, request BLOB NOT NULL, key_id INTEGER NOT NULL, sent INTEGER NOT NULL,
            sealed BLOB NOT NULL, given BLOB) WITHOUT ROWID;
        CREATE INDEX answers_by_request ON answers (request);
        CREATE INDEX answers_by_time ON answers (sent);
        """

    /// A key as stored in the file.
    struct Row {
        let mark: MessageMark
        /// A hash of the notification request's identifier; empty for a key that is held.
        let request: Bytes
        let keyID: KeyID
        let sentAt: Timestamp
        let sealed: Bytes
        let given: Bytes?
    }

    static let delete = "DELETE FROM answers WHERE mark = ?"

    let connection: SQLiteConnection

    /// Returns the row of a message; nil for one that no version writes.
    func row(of message: MessageMark) throws(KeyStoreError) -> Row? {
        let rows = try connection.rows(
            "SELECT request, key_id, sent, sealed, given FROM answers WHERE mark = ?", [.text(message.text)])
        guard let row = rows.first, case .blob(let request) = row[0], case .integer(let key) = row[1],
            let key = UInt32(exactly: key), case .integer(let sent) = row[2], case .blob(let sealed) = row[3]
        else { return nil }
        var given: Bytes?
        if case .blob(let bytes) = row[4] { given = bytes }
        return Row(
            mark: message, request: request, keyID: KeyID(value: key),
            sentAt: Timestamp(milliseconds: UInt64(clamping: sent)), sealed: sealed, given: given)
    }

    /// Deletes the keys of the other messages that the notification has shown.
    func deleteOthers(than message: MessageMark, under request: Bytes) throws(KeyStoreError) {
        try connection.rows(
            "DELETE FROM answers WHERE request = ? AND mark <> ?", [.blob(request), .text(message.text)])
    }

    /// Inserts a key, or replaces that of an earlier copy of the message; drops the oldest of too many.
    func insert(_ row: Row) throws(KeyStoreError) {
        try connection.rows(
            """
            INSERT INTO answers (mark, request, key_id, sent, sealed, given) VALUES (?, ?, ?, ?, ?, NULL)
            ON CONFLICT (mark) DO UPDATE SET key_id = excluded.key_id, sent = excluded.sent, sealed = excluded.sealed,
                given = NULL
            WHERE excluded.sent > sent
            """,
            [
                .text(row.mark.text), .blob(row.request), .integer(Int64(row.keyID.value)), Self.time(row.sentAt),
                .blob(row.sealed),
            ])
        try connection.rows(
            """
            DELETE FROM answers WHERE mark IN (
                SELECT mark FROM answers ORDER BY sent DESC LIMIT -1 OFFSET \(AnswerKeys.capacity))
            """)
    }

    /// Deletes the keys of withdrawn messages, and of those that were sealed 31 days ago.
    func prune(_ withdrawn: Set<MessageMark>, at now: Timestamp) throws(KeyStoreError) {
        try connection.rows("DELETE FROM answers WHERE sent < ?", [Self.time(now.subtracting(AnswerKey.life))])
        guard !withdrawn.isEmpty, try connection.integer("SELECT count(*) FROM answers") > 0 else { return }
        for message in withdrawn { try connection.rows(Self.delete, [.text(message.text)]) }
    }

    private static func time(_ time: Timestamp) -> SQLiteValue { .integer(Int64(clamping: time.milliseconds)) }
}
