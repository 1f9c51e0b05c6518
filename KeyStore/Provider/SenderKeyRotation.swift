public import Pushcrypt

/// The outcome of rotating a sender key.
public struct SenderKeyRotation: Hashable, Sendable {
    /// The record of the new key.
    public let record: SenderKeyRecord
    /// The statement, signed by both keys, that the new key replaces the old one.
    public let statement: RotationStatement
}

// MARK: Rotation of a signing key, and its announcement in messages (`Docs/KeyRotation.md`)
extension SQLiteKeyStore {
    /// How long every message announces a rotation if the caller does not say: 60 days.
    public static let standardAnnouncement = Interval.days(60)

    /// Replaces the key of a name, and issues a statement signed by both keys; the old secret is destroyed.
    ///
    /// When it returns, the old secret is in none of the store's files, not even sealed. If another process is still
    /// reading the previous state, the connection that closes last removes the secret from the log.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - overlap: How long devices still trust messages of the old key; at most 60 days.
    ///   - acceptFor: How long devices accept the statement.
    ///   - announceFor: How long messages carry the statement to devices that have not reported the new key.
    ///   - force: Whether to rotate even though a message cannot carry one more announcement; devices that missed the
    ///     oldest are lost.
    ///   - now: When the statement is issued; every interval above starts here.
    /// - Throws: `unknownName`, `ambiguousName`, `tooManyAnnouncements`; `rotationRefused` for an overlap above 60
    ///   days, or after the last possible generation.
    public func rotateSenderKey(
        named name: String? = nil, overlap: Interval = RotationStatement.standardOverlap,
        acceptFor: Interval = RotationStatement.standardAcceptFor,
        announceFor: Interval = standardAnnouncement,
        force: Bool = false, at now: Timestamp
    ) throws(KeyStoreError) -> SenderKeyRotation {
        let result = try write { (store) throws(KeyStoreError) in
            let old = try store.senderKeyRow(name)
            try store.deleteStaleAnnouncements(now)
            let announced = try store.announcementChain().statements(endingAt: old.publicKey, pinned: nil, at: now)
            guard force || announced.count < RotationStatement.maximumPerMessage else {
                throw KeyStoreError(
                    .tooManyAnnouncements,
                    "\(announced.count) rotations are being announced, the most a message can carry: wait until the oldest announcement ends, or force it and lose the devices that missed it"
                )
            }
            let oldKey = try old.key(keys)
            let key = try store.newSenderKey()
            let statement: RotationStatement
            do throws(RotationError) {
                statement = try RotationStatement(
                    from: oldKey, to: key, at: now, acceptFor: acceptFor, overlap: overlap)
            } catch {
                throw .rotation(error)
            }
            let row = SenderKeyRow(
                id: old.id, name: old.name, topic: old.topic, key: key,
                generation: try store.senderNames.generation(after: old.generation),
                createdAt: now, keys: keys)
            try store.put(row)
            try store.put(
                AnnouncementRow(
                    id: try store.newRowNumber(in: AnnouncementRow.self), oldKey: old.publicKey,
                    newKey: key.publicKey, statement: statement,
                    announcedUntil: now.adding(announceFor)))
            return SenderKeyRotation(record: try store.record(row), statement: statement)
        }
        // The rotation is done; if a reader keeps the log for a moment, that is not a failure.
        try? withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        return result
    }

    /// Returns the statements that a message signed by `sender` must carry, oldest first, at most the newest four.
    ///
    /// - Parameters:
    ///   - sender: The key that signs the message.
    ///   - pinned: The sender key that the device last reported. If it is `sender`, no statement is needed; if it is an
    ///     older key of the chain, all statements from that key on are, as long as devices accept them, even if they
    ///     are no longer announced; otherwise those still announced.
    ///   - now: The present time.
    public func announcements(
        for sender: SenderPublicKey, to pinned: SenderPublicKey?, at now: Timestamp
    ) throws(KeyStoreError) -> [RotationStatement] {
        guard pinned != sender else { return [] }
        return try announcements().statements(endingAt: sender, pinned: pinned, at: now)
    }

    /// Returns every rotation that messages may have to announce, for sealing many; read it again when the store's
    /// version has changed.
    package func announcements() throws(KeyStoreError) -> AnnouncementChain {
        try readOnce { (store) throws(KeyStoreError) in try store.announcementChain() }
    }
}

/// A statement that messages carry for some time.
struct AnnouncementRow: StoredRow {
    static let table = StoreTable("announcements", key: "id", "old_key", "new_key", "statement", "announced_until")
    static let put = table.put

    let id: Int64
    let oldKey: SenderPublicKey
    let newKey: SenderPublicKey
    let statement: RotationStatement
    let announcedUntil: Timestamp

    init(
        id: Int64, oldKey: SenderPublicKey, newKey: SenderPublicKey, statement: RotationStatement,
        announcedUntil: Timestamp
    ) {
        self.id = id
        self.oldKey = oldKey
        self.newKey = newKey
        self.statement = statement
        self.announcedUntil = announcedUntil
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        oldKey = try columns.senderPublicKey()
        newKey = try columns.senderPublicKey()
        let bytes = try columns.blob()
        guard let statement = try? RotationStatement(bytes: bytes.span) else { throw columns.damaged }
        self.statement = statement
        announcedUntil = try columns.time()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .blob(oldKey.bytes), .blob(newKey.bytes), .blob(statement.bytes), .time(announcedUntil),
        ]
    }

    func isAnnounced(at now: Timestamp) -> Bool { now <= announcedUntil }

    func isAccepted(at now: Timestamp) -> Bool {
        now <= statement.issuedAt.adding(statement.acceptFor)
    }
}

/// The rotations of a store's sender keys, each leading from one key to the next.
package struct AnnouncementChain: Sendable {
    let rows: [AnnouncementRow]

    /// Returns the statements that a message signed by `sender` must carry to a device that reported `pinned`, oldest
    /// first, as `announcements(for:to:at:)` does.
    package func statements(
        endingAt sender: SenderPublicKey, pinned: SenderPublicKey?, at now: Timestamp
    ) -> [RotationStatement] {
        guard pinned != sender, !rows.isEmpty else { return [] }
        var chain: [AnnouncementRow] = []
        var key = sender
        // At most as many steps as rows, even if the rows form a cycle.
        while chain.count < rows.count, let row = rows.first(where: { $0.newKey == key }) {
            chain.append(row)
            key = row.oldKey
        }
        // Newest first so far; without one of them, the ones before it are useless.
        let needed: ArraySlice<AnnouncementRow>
        if let pinned, let reported = chain.firstIndex(where: { $0.oldKey == pinned }) {
            needed = chain[...reported].prefix { $0.isAccepted(at: now) }
        } else {
            needed = chain.prefix { $0.isAnnounced(at: now) }
        }
        return needed.prefix(RotationStatement.maximumPerMessage).reversed().map(\.statement)
    }
}

extension StoreTransaction {
    fileprivate func announcementChain() throws(KeyStoreError) -> AnnouncementChain {
        AnnouncementChain(rows: try rows(AnnouncementRow.self, "ORDER BY id"))
    }

    fileprivate func deleteStaleAnnouncements(_ now: Timestamp) throws(KeyStoreError) {
        for row in try rows(AnnouncementRow.self, "ORDER BY id") {
            guard !row.isAnnounced(at: now), !row.isAccepted(at: now) else { continue }
            try delete(AnnouncementRow.self, key: .integer(row.id))
        }
    }
}

extension KeyStoreError {
    static func rotation(_ error: RotationError) -> KeyStoreError {
        KeyStoreError(error.code == .conflict ? .rotationConflict : .rotationRefused, error.description)
    }
}
