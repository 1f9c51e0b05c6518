public import Pushcrypt

/// The keys as an extension uses them: a key store that it only reads, and a file of its own for what messages change.
public struct ExtensionKeys: DeviceKeyReading, OpeningEffects {
    private let keys: any DeviceKeyReading
    private let statements: StatementFile

    /// Puts the two together.
    public init(keys: any DeviceKeyReading, statements: StatementFile) {
        self.keys = keys
        self.statements = statements
    }

    /// The key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try keys.deviceKey(id: id, at: now)
    }

    /// The pinned senders, and whoever took their place by statements since the app ran.
    ///
    /// Statements that do not fit the pins any more are passed over. When their file cannot be read, the pins alone count: a
    /// sender that has rotated is then not believed until the app runs or the file can be read.
    public func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust {
        // Before the pins, because the app takes statements into the pins first and removes them here afterwards.
        let kept = (try? statements.statements(for: topic)) ?? []
        var trust = try keys.trust(for: topic)
        for kept in kept { _ = try? trust.accept(kept.statement, at: kept.acceptedAt) }
        return trust
    }

    /// Keeps the statements of a message, and that it was opened with a key that is pending.
    ///
    /// - Throws: `rotationRefused`, `rotationConflict` when trust has changed since the message was opened, and what
    ///   `StatementFile.keep` throws.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {
        let record = try keys.deviceKey(id: publicKey.id, at: now)?.record
        let isPending = record?.publicKey == publicKey && record?.state == .pending
        try self.statements.keep(
            openedWith: isPending ? publicKey : nil, statements: try accepted(statements, topic, now), topic: topic,
            at: now)
    }

    /// The statements that change what is believed now.
    private func accepted(
        _ statements: [RotationStatement], _ topic: Topic, _ now: Timestamp
    ) throws(KeyStoreError) -> [RotationStatement] {
        guard !statements.isEmpty else { return [] }
        var trust = try trust(for: topic)
        var accepted: [RotationStatement] = []
        for statement in statements {
            do throws(RotationError) {
                if try trust.accept(statement, at: now) != .unchanged { accepted.append(statement) }
            } catch {
                throw .rotation(error)
            }
        }
        return accepted
    }
}
