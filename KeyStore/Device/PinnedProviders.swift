internal import Pushcrypt

// The rules for trust, the same in every store. (`Docs/FormatRotation.md`)
extension DeviceStorage {
    /// Returns the senders that are bound to an app or to none, and the others.
    ///
    /// Reads every row, because a row changed so as to be ignored must be noticed too; a device knows few senders.
    func trust(for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        let recoveries = try senderRecoveries()
        var groups: [(topic: Topic?, sender: ProviderTrust.Sender)] = []
        for rows in try pinnedProviders().grouped {
            let recovery = recoveries.first { StoreName.areEqual($0.name, rows[0].name) }
            let pinned = rows.first { $0.state == .pinned }
            let sender = ProviderTrust.Sender(
                name: rows[0].name, pinned: pinned?.key,
                superseded: rows.filter { $0.state == .superseded }.map(\.superseded),
                recoveryKeys: recovery?.recoveryKeys ?? [], lastRecovery: recovery?.last)
            groups.append(((pinned ?? rows.last)?.topic, sender))
        }
        return ProviderTrust(
            groups.filter { $0.topic == nil || $0.topic == topic }.map(\.sender),
            others: groups.filter { $0.topic != nil && $0.topic != topic }.map(\.sender))
    }

    func pinnedProviderRecords() throws(KeyStoreError) -> [PinnedProviderRecord] {
        let rows = try pinnedProviders()
        let revoked = Set(rows.filter(\.isRevoked).map(\.key))
        return rows.map { $0.record(isRevoked: revoked.contains($0.key)) }
    }

    private func pin(
        _ key: ProviderPublicKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try put(PinnedProviderRow(id: try newSenderNumber(), name: name, topic: topic, key: key, createdAt: now))
    }

    /// Pins a key; also returns the keys of any name that verified messages until now, and no longer do.
    ///
    /// Recovery keys are taken with the first key of a name that has none, and by a replacement, which removes them with an
    /// empty list: never with a key that is pinned already, nor if the key is refused. [R-22]
    func pinProvider(
        _ key: ProviderPublicKey, recoveryKeys: [RecoveryPublicKey]? = nil, named name: String, topic: Topic?,
        replace: Bool,
        at now: Timestamp
    ) throws(KeyStoreError) -> (outcome: RegistrationOutcome, ended: [PinnedProviderRow]) {
        let result = try pinProvider(key, named: name, topic: topic, replace: replace, at: now)
        guard let recoveryKeys else { return result }
        let hasNone = try self.recoveryKeys(ofProvider: name).isEmpty
        if replace || hasNone && result.outcome == .added {
            try setRecoveryKeys(recoveryKeys, ofProvider: name, revokingSenders: false)
        }
        return result
    }

    private func pinProvider(
        _ key: ProviderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> (outcome: RegistrationOutcome, ended: [PinnedProviderRow]) {
        try StoreName.check(name, "the name of a sender")
        let all = try pinnedProviders()
        guard !all.contains(where: { $0.key == key && $0.state == .superseded }) else {
            throw KeyStoreError(
                .senderSuperseded,
                "key \(key.id) was superseded, and a superseded key is never trusted again: get the sender's current key"
            )
        }
        guard try !senderRecoveries().contains(where: { $0.recoveryKeys.contains { $0.bytes == key.bytes } }) else {
            throw KeyStoreError(
                .senderSuperseded,
                "key \(key.id) is a recovery key and cannot be a sender's key: get the sender's current key")
        }
        let rows = all.filter { StoreName.areEqual($0.name, name) }
        let pinned = rows.first { $0.state == .pinned }
        if let pinned, !replace {
            guard pinned.key == key else {
                throw KeyStoreError(
                    .providerAlreadyPinned,
                    "another key is already trusted as '\(name)'"
                )
            }
            guard pinned.topic == topic else {
                throw KeyStoreError(
                    .topicMismatch,
                    "sender '\(name)' is already trusted for \(pinned.topic?.bundleID ?? "every app")"
                )
            }
            return (.unchanged, [])
        }
        var ended: [PinnedProviderRow] = []
        if replace {
            // A thief does not care under which name or for which app a key was trusted: revoked for one sender, it is
            // revoked for all. Pins of other names stay, so that a recovery can replace them.
            let revoked = Set(all.filter(\.isRevoked).map(\.key))
            let stolen = Set(rows.map(\.key)).subtracting(revoked).subtracting([key])
            for row in rows where stolen.contains(row.key) { try put(row.superseded(by: nil, until: nil)) }
            ended = all.filter { stolen.contains($0.key) && $0.verifies(at: now) }
        }
        if let pinned, pinned.key == key {
            if pinned.topic == topic { return (ended.isEmpty ? .unchanged : .updated, ended) }
            try delete(pinned)
        }
        try pin(key, name: name, topic: topic, at: now)
        return (pinned == nil ? .added : .updated, ended)
    }

    func accept(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> [ProviderTrust.Change] {
        var changes: [ProviderTrust.Change] = []
        for statement in statements {
            var trust = try trust(for: topic)
            let before = trust.senders
            do throws(RotationError) {
                changes.append(try trust.accept(statement, for: topic, at: now))
            } catch {
                throw .rotation(error)
            }
            for (old, new) in zip(before, trust.senders) where old != new { try store(new, after: old, at: now) }
        }
        return changes
    }

    /// Writes what a statement has changed of a sender.
    private func store(
        _ sender: ProviderTrust.Sender, after old: ProviderTrust.Sender, at now: Timestamp
    ) throws(KeyStoreError) {
        let rows = try pinnedProviders().filter { StoreName.areEqual($0.name, sender.name) }
        for entry in sender.superseded {
            for row in rows where row.key == entry.key && row.superseded != entry {
                try put(row.superseded(by: entry.statement, until: entry.verifiesUntil))
            }
        }
        if let key = sender.pinned, key != old.pinned {
            let topic = rows.first { $0.state == .pinned }?.topic
            try pin(key, name: sender.name, topic: topic, at: now)
        }
        if sender.lastRecovery != old.lastRecovery {
            try put(
                SenderRecoveryRow(
                    name: sender.name, recoveryKeys: sender.recoveryKeys, last: sender.lastRecovery))
        }
    }

    // MARK: Recovery keys

    func recoveryKeys(ofProvider name: String) throws(KeyStoreError) -> [RecoveryPublicKey] {
        try senderRecoveries().first { StoreName.areEqual($0.name, name) }?.recoveryKeys ?? []
    }

    /// Replaces the recovery keys of a sender.
    ///
    /// No key is both. A sender key with the bytes of a built-in recovery key was named by somebody who need not have its
    /// secret: `revokingSenders` revokes it, or it would keep the recovery key out.
    func setRecoveryKeys(
        _ keys: [RecoveryPublicKey], ofProvider name: String, revokingSenders: Bool
    ) throws(KeyStoreError) {
        precondition(
            keys.count <= RecoveryPublicKey.maximumPerSender && Set(keys).count == keys.count,
            "a sender has at most two different recovery keys")
        try StoreName.check(name, "the name of a sender")
        for row in try pinnedProviders() where keys.contains(where: { $0.bytes == row.key.bytes }) {
            guard revokingSenders else {
                throw KeyStoreError(
                    .senderSuperseded,
                    "key \(row.key.id) is a sender's key and cannot be a recovery key: make another")
            }
            if !row.isRevoked { try put(row.superseded(by: nil, until: nil)) }
        }
        let row = try senderRecoveries().first { StoreName.areEqual($0.name, name) }
        guard keys != row?.recoveryKeys ?? [] else { return }
        // The serial belongs to the key that used it: one that was stolen and is replaced must not block the others.
        let last = row?.last.flatMap { keys.contains($0.recoveryKey) ? $0 : nil }
        try put(SenderRecoveryRow(name: name, recoveryKeys: keys, last: last))
    }

    func unpinProvider(named name: String) throws(KeyStoreError) -> Bool {
        let rows = try pinnedProviders().filter { StoreName.areEqual($0.name, name) }
        for row in rows {
            if row.state == .pinned {
                try delete(row)
            } else {
                try put(row.superseded(by: nil, until: nil))
            }
        }
        return rows.contains { $0.state == .pinned }
    }

    // MARK: Changes made by a message

    /// Returns whether `settle` changes anything; nearly every message changes nothing.
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

extension [PinnedProviderRow] {
    /// The rows of each name, in order of first appearance.
    fileprivate var grouped: [[PinnedProviderRow]] {
        var groups: [[PinnedProviderRow]] = []
        for row in self {
            if let index = groups.firstIndex(where: { StoreName.areEqual($0[0].name, row.name) }) {
                groups[index].append(row)
            } else {
                groups.append([row])
            }
        }
        return groups
    }
}

extension PinnedProviderRow {
    /// The row as a key that lost its pin.
    fileprivate var superseded: ProviderTrust.Superseded {
        ProviderTrust.Superseded(
            key: key, verifiesUntil: state == .pinned ? .init(milliseconds: .max) : verifiesUntil, statement: statement)
    }
}
