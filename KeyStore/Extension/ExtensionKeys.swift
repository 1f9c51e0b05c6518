public import Pushcrypt

/// The keys as an extension uses them: a key store of which it only deletes retired keys, and a file for the changes
/// made by messages.
public struct ExtensionKeys: DeviceKeyReading, OpeningEffects {
    private let keys: any DeviceKeyReading
    private let statements: StatementFile

    /// Combines a key store and a file.
    public init(keys: any DeviceKeyReading, statements: StatementFile) {
        self.keys = keys
        self.statements = statements
    }

    /// Returns the key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try keys.deviceKey(id: id, at: now)
    }

    /// Returns the pinned senders, or those that replaced them by statements since the app last ran.
    ///
    /// Statements that no longer fit the pins are ignored. If their file cannot be read, only the pins count: a sender
    /// that has rotated is then not trusted until the app runs or the file can be read.
    public func trust(for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        // Read before the pins, because the app first adds statements to the pins and then removes them here.
        let kept = (try? statements.statements(for: topic)) ?? []
        var trust = try keys.trust(for: topic)
        for kept in kept { _ = try? trust.accept(kept.statement, for: topic, at: kept.acceptedAt) }
        return trust
    }

    /// Deletes the retired keys that ended long ago.
    @discardableResult
    public func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try keys.purgeRetiredDeviceKeys(at: now, accepted: sentAt)
    }

    /// Stores a message's statements, and the pending key that opened it, if any.
    ///
    /// - Throws: `rotationRefused`, `rotationConflict` if trust has changed since the message was opened, and the
    ///   errors of `StatementFile.keep`.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {
        let record = try keys.deviceKey(id: publicKey.id, at: now)?.record
        let isPending = record?.publicKey == publicKey && record?.state == .pending
        let accepted = try accepted(statements, topic, now)
        try self.statements.keep(
            openedWith: isPending ? publicKey : nil, statements: accepted,
            insteadOf: try outdated(by: accepted.filter(\.isRecovery), topic, now), topic: topic, at: now)
    }

    /// Returns the kept statements that change nothing once a recovery was accepted: those of its sender.
    private func outdated(
        by recoveries: [RotationStatement], _ topic: Topic, _ now: Timestamp
    ) throws(KeyStoreError) -> [StatementTables.Kept] {
        guard !recoveries.isEmpty, let kept = try? statements.statements(for: topic) else { return [] }
        var trust = try keys.trust(for: topic)
        for recovery in recoveries { _ = try? trust.accept(recovery, for: topic, at: now) }
        return kept.filter { kept in
            let change = try? trust.accept(kept.statement, for: topic, at: kept.acceptedAt)
            return change == nil || change == .unchanged
        }
    }

    /// Returns the statements that change what is trusted now.
    private func accepted(
        _ statements: [RotationStatement], _ topic: Topic, _ now: Timestamp
    ) throws(KeyStoreError) -> [RotationStatement] {
        guard !statements.isEmpty else { return [] }
        var trust = try trust(for: topic)
        var accepted: [RotationStatement] = []
        var refusal: RotationError?
        for statement in statements {
            do throws(RotationError) {
                if try trust.accept(statement, for: topic, at: now) != .unchanged { accepted.append(statement) }
            } catch {
                refusal = refusal ?? error
            }
        }
        // A recovery is kept whatever becomes of a rotation beside it.
        if let refusal, !accepted.contains(where: \.isRecovery) { throw .rotation(refusal) }
        return accepted
    }
}
