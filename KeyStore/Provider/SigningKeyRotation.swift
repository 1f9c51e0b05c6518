public import Pushcrypt

/// The outcome of rotating a sender key.
public struct ProviderKeyRotation: Hashable, Sendable {
    /// The record of the new key.
    public let record: ProviderKeyRecord
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
    /// A clock that is wrong for a moment cannot end the key: a time more than a day before the store's last change is
    /// refused. The statement is issued at most a day after that change; the overlap grows by the rest, up to 60 days. A
    /// change more than 29 days after the last one needs an assurance.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - overlap: How long devices still trust messages of the old key; at most 60 days.
    ///   - acceptFor: How long devices accept the statement.
    ///   - announceFor: How long messages carry the statement to devices that have not reported the new key.
    ///   - force: Whether to rotate even though a message cannot carry one more announcement; devices that missed the
    ///     oldest are lost.
    ///   - clock: What is known about the clock that `now` comes from.
    ///   - now: When the statement is issued; every interval above starts here.
    /// - Throws: `unknownName`, `ambiguousName`, `tooManyAnnouncements`, `implausibleClock`; `rotationRefused` for an
    ///   overlap above 60 days, or after the last possible generation.
    public func rotateProviderKey(
        named name: String? = nil, overlap: Interval = RotationStatement.standardOverlap,
        acceptFor: Interval = RotationStatement.standardAcceptFor,
        announceFor: Interval = standardAnnouncement,
        force: Bool = false, clock: ClockAssurance = .unknown, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRotation {
        let rotation = try rotateProviderKey(
            named: name, ifOlderThan: nil, overlap: overlap, acceptFor: acceptFor, announceFor: announceFor,
            force: force, clock: clock, at: now)
        // Only a minimum age makes the call do nothing.
        guard let rotation else { preconditionFailure("no rotation") }
        return rotation
    }

    /// Replaces the key of a name if it has reached an age; of two processes that ask at once, one replaces it.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - age: Do nothing while the key is younger; nil to rotate in any case.
    ///   - overlap: How long devices still trust messages of the old key; at most 60 days.
    ///   - acceptFor: How long devices accept the statement.
    ///   - announceFor: How long messages carry the statement to devices that have not reported the new key.
    ///   - force: Whether to rotate even though a message cannot carry one more announcement.
    ///   - clock: What is known about the clock that `now` comes from.
    ///   - now: When the statement is issued; every interval above starts here.
    ///   - willEnd: Called with the old key, and the end of its overlap, before anything is changed.
    /// - Returns: nil if the key is younger.
    /// - Throws: The errors of the call without an age.
    public func rotateProviderKey(
        named name: String? = nil, ifOlderThan age: Interval?,
        overlap: Interval = RotationStatement.standardOverlap,
        acceptFor: Interval = RotationStatement.standardAcceptFor,
        announceFor: Interval = standardAnnouncement,
        force: Bool = false, clock: ClockAssurance = .unknown, at now: Timestamp,
        willEnd: (ProviderKeyRecord, Timestamp) -> Void = { _, _ in }
    ) throws(KeyStoreError) -> ProviderKeyRotation? {
        let result = try write(at: now, clock) { (store, clock) throws(KeyStoreError) -> ProviderKeyRotation? in
            let old = try store.providerKeyRow(name)
            if let age, !clock.hasReached(age, since: old.createdAt) { return nil }
            let issuedAt = try clock.time()
            let announced = try store.announcementChain().announced(endingAt: old.publicKey, at: issuedAt)
            guard force || announced < RotationStatement.maximumPerMessage else {
                throw KeyStoreError(
                    .tooManyAnnouncements,
                    "\(announced) rotations and recoveries are being announced, the most a message can carry: wait until the oldest rotation's announcement ends, or force it and lose the devices that missed it"
                )
            }
            let oldKey = try old.key(keys)
            let key = try store.newSenderKey()
            let statement: RotationStatement
            do throws(RotationError) {
                statement = try RotationStatement(
                    from: oldKey, to: key, at: issuedAt, acceptFor: acceptFor,
                    overlap: overlap.extended(from: issuedAt, to: now))
            } catch {
                throw .rotation(error)
            }
            willEnd(try store.record(old), statement.overlapEnd)
            try store.deleteStaleAnnouncements(issuedAt)
            let row = ProviderKeyRow(
                id: old.id, name: old.name, topic: old.topic, key: key,
                generation: try store.providerNames.generation(after: old.generation),
                createdAt: now, keys: keys)
            try store.put(row)
            try store.put(PastSenderKeyRow(old.publicKey, endedAt: now))
            try store.put(
                AnnouncementRow(
                    id: try store.newRowNumber(in: AnnouncementRow.self), oldKey: old.publicKey,
                    newKey: key.publicKey, statement: statement,
                    announcedUntil: now.adding(announceFor)))
            return ProviderKeyRotation(record: try store.record(row), statement: statement)
        }
        // The rotation is done; if a reader keeps the log for a moment, that is not a failure.
        if result != nil {
            try? withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        }
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
        for sender: ProviderPublicKey, to pinned: ProviderPublicKey?, at now: Timestamp
    ) throws(KeyStoreError) -> [RotationStatement] {
        guard pinned != sender else { return [] }
        return try announcements().statements(endingAt: sender, pinned: pinned, at: now)
    }

    /// Returns every rotation that messages may have to announce, for sealing many; read it again when the store's
    /// version has changed.
    package func announcements() throws(KeyStoreError) -> AnnouncementChain {
        try read { (store) throws(KeyStoreError) in try store.announcementChain() }
    }
}

/// A statement that messages carry for some time.
struct AnnouncementRow: StoredRow {
    static let table = StoreTable("announcements", key: "id", "old_key", "new_key", "statement", "announced_until")
    static let put = table.put
    static let counted: CountedTable? = .announcements

    let id: Int64
    let oldKey: ProviderPublicKey
    let newKey: ProviderPublicKey
    let statement: RotationStatement
    let announcedUntil: Timestamp

    init(
        id: Int64, oldKey: ProviderPublicKey, newKey: ProviderPublicKey, statement: RotationStatement,
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
        oldKey = try columns.providerPublicKey()
        newKey = try columns.providerPublicKey()
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

/// The rotations of a store's sender keys, each leading from one key to the next, and their recoveries.
package struct AnnouncementChain: Sendable {
    let rows: [AnnouncementRow]
    let recoveries: [RotationStatement]

    /// Returns the rotations that lead to a key, newest first.
    func rows(endingAt sender: ProviderPublicKey) -> [AnnouncementRow] {
        var chain: [AnnouncementRow] = []
        var key = sender
        // At most as many steps as rows, even if the rows form a cycle.
        while chain.count < rows.count, let row = rows.first(where: { $0.newKey == key }) {
            chain.append(row)
            key = row.oldKey
        }
        return chain
    }

    /// Returns whether the row leads on from a recovery: without it, messages would no longer carry the recovery.
    func followsRecovery(_ row: AnnouncementRow) -> Bool {
        recovery(before: row.newKey, rows(endingAt: row.newKey)) != nil
    }

    /// Returns how many statements are announced to every device that has not reported the key or one before it.
    func announced(endingAt sender: ProviderPublicKey, at now: Timestamp) -> Int {
        let chain = rows(endingAt: sender)
        return chain.prefix { $0.isAnnounced(at: now) }.count + (recovery(before: sender, chain) == nil ? 0 : 1)
    }

    /// Returns the recovery that the key, or one that the rotations lead on from, came from.
    private func recovery(before sender: ProviderPublicKey, _ chain: [AnnouncementRow]) -> RotationStatement? {
        let keys = [sender] + chain.map(\.oldKey)
        return recoveries.first { recovery in keys.contains { $0.bytes == recovery.newKeyBytes } }
    }

    /// Returns the statements that a message signed by `sender` must carry to a device that reported `pinned`, oldest
    /// first, as `announcements(for:to:at:)` does.
    package func statements(
        endingAt sender: ProviderPublicKey, pinned: ProviderPublicKey?, at now: Timestamp
    ) -> [RotationStatement] {
        guard pinned != sender, !rows.isEmpty || !recoveries.isEmpty else { return [] }
        let chain = rows(endingAt: sender)
        let isOnTheWay = pinned.map { pinned in chain.contains { $0.oldKey == pinned } } ?? false
        if !isOnTheWay, let recovery = recovery(before: sender, chain) {
            // Permanently, and before all others: to a device with any pin, even a thief's.
            let room = RotationStatement.maximumPerMessage - 1
            let accepted = chain.prefix { $0.isAccepted(at: now) }
            // All that lead on from the recovered key, if there is room; otherwise those that are announced.
            let isWhole = accepted.count == chain.count && chain.count <= room
            let rotations = isWhole ? accepted : chain.prefix { $0.isAnnounced(at: now) }
            return [recovery] + rotations.prefix(room).reversed().map(\.statement)
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

    /// Returns the statements for a device that has reported nothing, as text for `AnnouncedStatements`.
    package func text(endingAt sender: ProviderPublicKey, at now: Timestamp) -> String {
        let statements = statements(endingAt: sender, pinned: nil, at: now)
        let replaced = statements.map { statement in rows.first { $0.statement == statement }?.oldKey }
        // A recovery stands before the key that the next one replaces.
        let first = replaced.lazy.compactMap(\.self).first ?? sender
        return zip(statements, replaced).map { AnnouncedStatements.line($0, beginningWith: $1 ?? first) }.joined()
    }
}

extension StoreTransaction {
    func announcementChain() throws(KeyStoreError) -> AnnouncementChain {
        AnnouncementChain(
            rows: try rows(AnnouncementRow.self, "ORDER BY id"),
            recoveries: try rows(RecoveryRow.self, "ORDER BY name").compactMap(\.statement))
    }

    fileprivate func deleteStaleAnnouncements(_ now: Timestamp) throws(KeyStoreError) {
        let chain = try announcementChain()
        for row in chain.rows {
            guard !row.isAnnounced(at: now), !row.isAccepted(at: now), !chain.followsRecovery(row) else { continue }
            try delete(AnnouncementRow.self, key: .integer(row.id))
        }
    }
}

extension Interval {
    /// Returns the overlap of a statement issued before the present time: it ends as if issued now, but is at most 60
    /// days. One that is too long already stays as it is, and is refused.
    fileprivate func extended(from issuedAt: Timestamp, to now: Timestamp) -> Interval {
        let longest = RotationStatement.maximumOverlap
        guard self <= longest else { return self }
        // Rounded up, because the overlap counts seconds.
        return min(longest, .seconds(seconds + (now.milliseconds(since: issuedAt) + 999) / 1000))
    }
}

extension KeyStoreError {
    static func rotation(_ error: RotationError) -> KeyStoreError {
        let code: KeyStoreError.Code =
            switch error.code {
            case .conflict: .rotationConflict
            case .recoveryConflict: .recoveryConflict
            default: .rotationRefused
            }
        return KeyStoreError(code, error.description)
    }
}
