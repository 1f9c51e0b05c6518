internal import Pushcrypt

// Whom a device believes, in whatever store that is written. (`Docs/Format.md`, Rotation)
extension DeviceStorage {
    /// Reads every row, because one that was changed to be passed over must be noticed too; a device knows few senders.
    private func trustedSenders(for topic: Topic) throws(KeyStoreError) -> [TrustedSenderRow] {
        try trustedSenders().filter { $0.topic == nil || $0.topic == topic }
    }

    func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { SenderTrust(try trustedSenders(for: topic)) }

    private func pin(
        _ key: SenderPublicKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try put(TrustedSenderRow(id: try newSenderNumber(), name: name, topic: topic, key: key, createdAt: now))
    }

    func trustSender(
        _ key: SenderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.check(name, "the name of a sender")
        let all = try trustedSenders()
        guard !all.contains(where: { $0.key == key && $0.state == .superseded }) else {
            throw KeyStoreError(
                .senderSuperseded,
                "key \(key.id) was superseded here, and trust never goes back: get the sender's current key")
        }
        let rows = all.filter { StoreName.areEqual($0.name, name) }
        guard let pinned = rows.first(where: { $0.state == .pinned }) else {
            try pin(key, name: name, topic: topic, at: now)
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
            try delete(pinned)
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
        try pin(key, name: name, topic: topic, at: now)
        return .updated
    }

    func accept(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
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
                try pin(new, name: row.name, topic: row.topic, at: now)
            }
        }
        return changes
    }

    func removeTrustedSender(named name: String) throws(KeyStoreError) -> Bool {
        let rows = try trustedSenders().filter { StoreName.areEqual($0.name, name) }
        for row in rows {
            if row.state == .pinned {
                try delete(row)
            } else {
                try put(row.superseded(by: row.statement, until: nil))
            }
        }
        return rows.contains { $0.state == .pinned }
    }

    // MARK: What a message brings

    /// Whether `settle` changes anything: nearly every message changes nothing.
    func needsSettling(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement]
    ) throws(KeyStoreError) -> Bool {
        if !statements.isEmpty { return true }
        return try pendingKey(publicKey) != nil
    }

    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, grace: Interval,
        at now: Timestamp
    ) throws(KeyStoreError) {
        if let pending = try pendingKey(publicKey) {
            try activate(pending, grace: grace, at: now)
        }
        _ = try accept(statements, topic: topic, at: now)
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
