public import Pushcrypt

// Whom a device believes. (`Docs/Format.md`, Rotation)
extension SQLiteKeyStore {
    /// Pins a sender's key.
    @discardableResult
    public func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic?, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.check(name, "the name of a sender")
        return try write { (store) throws(KeyStoreError) in
            try store.trustSender(name: name, key, topic: topic, replace: replace, now: now)
        }
    }

    /// The senders that are believed for an app.
    public func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust {
        try read { (store) throws(KeyStoreError) in SenderTrust(try store.trustedSenders(for: topic)) }
    }

    /// Every sender that is or was believed.
    public func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRecord] {
        try read { (store) throws(KeyStoreError) in
            try store.trustedSenders().map(\.record)
        }
    }

    /// Stops believing a sender, its superseded keys included.
    @discardableResult
    public func removeTrustedSender(_ name: String) throws(KeyStoreError) -> Bool {
        try write { (store) throws(KeyStoreError) in
            let rows = try store.trustedSenders().filter { StoreName.areEqual($0.name, name) }
            for row in rows {
                if row.state == .pinned {
                    try store.delete(TrustedSenderRow.self, key: .integer(row.id))
                } else {
                    try store.put(row.superseded(by: row.statement, until: nil))
                }
            }
            return rows.contains { $0.state == .pinned }
        }
    }

    /// Accepts rotation statements that reached the device outside a message, all or none.
    public func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        try write { (store) throws(KeyStoreError) in try store.accept(statements, topic: topic, now: now) }
    }

    /// Keeps what a message has changed, in one transaction.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, graceSeconds: UInt64,
        now: Timestamp
    ) throws(KeyStoreError) {
        // Nearly every message changes nothing, and readers do not wait for each other.
        let isPending = try read { (store) throws(KeyStoreError) in try store.pendingKey(publicKey) != nil }
        guard isPending || !statements.isEmpty else { return }
        try write { (store) throws(KeyStoreError) in
            if let pending = try store.pendingKey(publicKey) {
                _ = try store.activate(pending, graceSeconds: graceSeconds, now: now)
            }
            _ = try store.accept(statements, topic: topic, now: now)
        }
    }
}

extension StoreTransaction {
    /// Every row, because one that was changed to be passed over must be noticed too; a device knows few senders.
    fileprivate func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRow] {
        try rows(TrustedSenderRow.self, "ORDER BY id")
    }

    fileprivate func trustedSenders(for topic: Topic) throws(KeyStoreError) -> [TrustedSenderRow] {
        try trustedSenders().filter { $0.topic == nil || $0.topic == topic }
    }

    fileprivate func pendingKey(_ publicKey: DevicePublicKey) throws(KeyStoreError) -> DeviceKeyRow? {
        let row = try row(DeviceKeyRow.self, "WHERE key_id = ?", .integer(Int64(publicKey.id.value)))
        return row.flatMap { $0.publicKey == publicKey && $0.state == .pending ? $0 : nil }
    }

    fileprivate func pin(
        _ key: SenderPublicKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) {
        try put(
            TrustedSenderRow(
                id: try newRowNumber(in: TrustedSenderRow.self), name: name, topic: topic, key: key, createdAt: now))
    }

    fileprivate func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic?, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        let all = try trustedSenders()
        guard !all.contains(where: { $0.key == key && $0.state == .superseded }) else {
            throw KeyStoreError(
                .senderSuperseded,
                "key \(key.id) was superseded here, and trust never goes back: get the sender's current key")
        }
        let rows = all.filter { StoreName.areEqual($0.name, name) }
        guard let pinned = rows.first(where: { $0.state == .pinned }) else {
            try pin(key, name: name, topic: topic, now: now)
            return .added
        }
        if pinned.key == key {
            if pinned.topic == topic { return .unchanged }
            guard replace else {
                throw KeyStoreError(
                    .topicMismatch,
                    "sender '\(name)' is trusted for \(pinned.topic?.bundleID ?? "every app") already; --replace changes that"
                )
            }
            try delete(TrustedSenderRow.self, key: .integer(pinned.id))
        } else {
            guard replace else {
                throw KeyStoreError(
                    .senderAlreadyTrusted,
                    "another key is trusted as '\(name)': a rotation brings its own proof; after a theft, --replace ends all trust in the old key"
                )
            }
            // A thief does not mind which name or app the key was trusted under.
            let stolen = Set(rows.map(\.key)).subtracting([key])
            for row in all where stolen.contains(row.key) { try put(row.superseded(by: row.statement, until: nil)) }
        }
        try pin(key, name: name, topic: topic, now: now)
        return .updated
    }

    fileprivate func accept(
        _ statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        var changes: [SenderTrust.Change] = []
        for statement in statements {
            let rows = try trustedSenders(for: topic)
            var trust = SenderTrust(rows)
            do throws(RotationError) {
                changes.append(try trust.accept(statement, at: now))
            } catch {
                throw .rotation(error)
            }
            guard case .rotated(let old, let new)? = changes.last else { continue }
            for row in rows where row.state == .pinned && row.key == old {
                try put(row.superseded(by: statement, until: statement.overlapEnd))
                try pin(new, name: row.name, topic: row.topic, now: now)
            }
        }
        return changes
    }
}

extension SenderTrust {
    fileprivate init(_ rows: [TrustedSenderRow]) {
        var pinned: [SenderPublicKey] = []
        // One key may be pinned under two names.
        for row in rows where row.state == .pinned && !pinned.contains(row.key) { pinned.append(row.key) }
        let superseded = rows.filter { $0.state == .superseded }.map {
            Superseded(key: $0.key, verifiesUntil: $0.verifiesUntil, statement: $0.statement)
        }
        self.init(pinned: pinned, superseded: superseded)
    }
}
