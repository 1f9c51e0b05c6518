public import Pushcrypt

/// What a provider keeps for recoveries of one of its sender keys.
struct RecoveryRow: StoredRow {
    static let table = StoreTable(
        "recoveries", key: "name", "recovery_keys", "announced", "serial", "statement", "request", "sealed")
    static let put = table.put
    static let counted: CountedTable? = .recoveries

    /// The earliest keys are forgotten when there are more.
    private static let maximumKeys = 16

    let name: String
    /// The recovery keys that this name has had, latest first: a device may still report an earlier one.
    private(set) var recoveryKeys: [RecoveryPublicKey] = []
    /// How many of them phones are told of, at most two.
    private var announced = 0
    /// The serial of the last recovery; 0 before the first. What was only prepared uses up none.
    var serial: UInt32 = 0
    /// The last recovery, which is announced permanently.
    var statement: RotationStatement?
    /// A recovery that waits for the recovery key's signature.
    private(set) var request: RecoveryRequest?
    private var sealed: Bytes?

    init(name: String) { self.name = name }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        name = try columns.text()
        let bytes = try columns.blob()
        let announced = try columns.integer()
        guard let keys = SenderRecoveryRow.keys(of: bytes, atMost: Self.maximumKeys),
            let announced = Int(exactly: announced),
            (0...min(keys.count, RecoveryPublicKey.maximumPerSender)).contains(announced),
            let serial = UInt32(exactly: try columns.integer())
        else { throw columns.damaged }
        recoveryKeys = keys
        self.announced = announced
        self.serial = serial
        if let bytes = try columns.optionalBlob() {
            guard let statement = try? RotationStatement(bytes: bytes.span), statement.isRecovery else {
                throw columns.damaged
            }
            self.statement = statement
        }
        if let json = try columns.optionalBlob() {
            guard let request = try? RecoveryRequest(json: json) else { throw columns.damaged }
            self.request = request
        }
        sealed = try columns.optionalBlob()
        guard (request == nil) == (sealed == nil) else { throw columns.damaged }
    }

    var values: [SQLiteValue] {
        [
            .text(name), .blob(SenderRecoveryRow.bytes(of: recoveryKeys)), .integer(Int64(announced)),
            .integer(Int64(serial)),
            .blob(statement?.bytes), .blob(request?.json), .blob(sealed),
        ]
    }

    private static func place(_ serial: UInt32) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: 0, generation: UInt64(serial), state: 0)
    }

    mutating func prepare(_ request: RecoveryRequest, _ key: ProviderKey, _ keys: StoreKeys) {
        self.request = request
        sealed = key.withSeed { keys.seal($0, at: Self.place(request.serial)) }
    }

    /// Returns the new key of the request.
    func newKey(_ keys: StoreKeys) throws(KeyStoreError) -> ProviderKey? {
        guard let request, let sealed else { return nil }
        guard
            let key = try? keys.open(sealed, at: Self.place(request.serial)).withSpan({ (seed) throws(KeyError) in
                try ProviderKey(seed: seed)
            }), key.publicKey == request.newKey
        else { throw .damagedRow(.text(name), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try newKey(keys) }

    mutating func finish(_ signed: SignedRecovery) {
        statement = signed.statement
        serial = signed.request.serial
        let key = signed.request.recoveryKey
        if !announcedKeys.contains(key) { announce([key] + announcedKeys.prefix(1)) }
        request = nil
        sealed = nil
    }

    /// The keys that phones are told of.
    var announcedKeys: [RecoveryPublicKey] { Array(recoveryKeys.prefix(announced)) }

    mutating func announce(_ keys: [RecoveryPublicKey]) {
        recoveryKeys = Array((keys + recoveryKeys.filter { !keys.contains($0) }).prefix(Self.maximumKeys))
        announced = keys.count
    }
}

/// A recovery that was prepared, and what it is about.
package struct PreparedRecovery: Hashable, Sendable {
    /// What the recovery key is to sign.
    package let request: RecoveryRequest
    /// The key that it will replace; nil if the store has none of this name, so that a new one is made.
    package let key: ProviderKeyRecord?
    /// The request that was waiting, and can no longer be finished: not necessarily the caller's own.
    package let replacedRequest: RecoveryRequest?
}

/// The outcome of a recovery.
package struct SenderKeyRecovery: Hashable, Sendable {
    /// The record of the new key.
    package let record: ProviderKeyRecord
    /// The key that it replaced, whose secret is destroyed; nil if the store had none of this name.
    package let replaced: ProviderPublicKey?
}

// MARK: Recovery of a signing key after a theft or a loss (`Docs/KeyRotation.md`)
extension SQLiteKeyStore {
    /// Makes the new key of a recovery, and the request that the recovery key is to sign.
    ///
    /// Nothing else changes until `finishRecovery`. Every call makes another key: one that was waiting may be known to
    /// somebody who was in the server.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default, or `default` in a store without sender keys. A name that the store does
    ///     not have gets a key, as after a loss.
    ///   - topic: The app; nil for that of the key. Devices of other apps cannot follow, even if the key signs for all.
    ///   - recoveryKey: The recovery key that the app's devices have pinned.
    ///   - serial: The last serial used, if the store was lost; the new one is above it.
    ///   - clock: What is known about the clock that `now` comes from.
    ///   - now: The present time; the serial is at least its seconds since 1970.
    /// - Throws: `ambiguousName`, `invalidName`, `implausibleClock`; `senderSuperseded` for a recovery key that is or was
    ///   a sender's; `topicMismatch` without a topic, or with one other than the key's; `rotationRefused` after the last
    ///   possible serial.
    package func prepareRecovery(
        named name: String? = nil, topic: Topic? = nil, by recoveryKey: RecoveryPublicKey,
        serialAbove serial: UInt32 = 0,
        clock: ClockAssurance = .unknown, at now: Timestamp
    ) throws(KeyStoreError) -> PreparedRecovery {
        try write(at: now, clock) { (store, _) throws(KeyStoreError) in
            let (name, old) = try store.recoveryName(name)
            try store.checkAreNoSenders([recoveryKey])
            guard let topic = topic ?? old?.topic else {
                throw KeyStoreError(
                    .topicMismatch, "sender key '\(name)' is bound to no app: name the app to recover it for")
            }
            guard old?.topic == nil || old?.topic == topic else {
                throw KeyStoreError(
                    .topicMismatch, "sender key '\(name)' is for \(old?.topic?.bundleID ?? ""), not \(topic)")
            }
            var row = try store.recoveryRow(name) ?? RecoveryRow(name: name)
            let lowest = max(row.serial, serial)
            guard lowest < .max else {
                throw KeyStoreError(
                    .rotationRefused,
                    "the recovery has the last possible serial: ship another recovery key with the app")
            }
            let key = try store.newSenderKey()
            let request: RecoveryRequest
            do throws(RotationError) {
                request = try RecoveryRequest(
                    by: recoveryKey, for: topic, to: key,
                    serial: max(lowest + 1, UInt32(clamping: now.milliseconds / 1000)), at: now)
            } catch {
                throw .rotation(error)
            }
            let prepared = PreparedRecovery(
                request: request, key: try old.map(store.record), replacedRequest: row.request)
            row.prepare(request, key, keys)
            try store.put(row)
            return prepared
        }
    }

    /// Installs the new key of a recovery that the recovery key has signed, and destroys the old secret.
    ///
    /// From now on every message carries the statement to devices that have not reported the new key or a successor;
    /// rotations from before are announced no longer.
    ///
    /// - Parameters:
    ///   - signed: The recovery that was prepared in this store.
    ///   - name: The name; nil for the default, or `default` in a store without sender keys.
    ///   - clock: What is known about the clock that `now` comes from.
    ///   - now: The present time.
    ///   - willEnd: Called with the old key before anything is changed.
    /// - Throws: `ambiguousName`, `implausibleClock`; `rotationRefused` if it was not prepared here, or another one was
    ///   prepared after it.
    package func finishRecovery(
        _ signed: SignedRecovery, named name: String? = nil, clock: ClockAssurance = .unknown, at now: Timestamp,
        willEnd: (ProviderKeyRecord) -> Void = { _ in }
    ) throws(KeyStoreError) -> SenderKeyRecovery {
        let result = try write(at: now, clock) { (store, clock) throws(KeyStoreError) in
            let (name, old) = try store.recoveryName(name)
            guard var row = try store.recoveryRow(name), row.request == signed.request,
                let key = try row.newKey(keys)
            else {
                throw KeyStoreError(
                    .rotationRefused,
                    "this is not the recovery that waits here for '\(name)': prepare one, have it signed, and finish that"
                )
            }
            _ = try clock.time()
            if let old {
                willEnd(try store.record(old))
                try store.put(PastSenderKeyRow(old.publicKey, endedAt: now))
                for announced in try store.announcementChain().rows(endingAt: old.publicKey) {
                    try store.delete(AnnouncementRow.self, key: .integer(announced.id))
                }
            }
            row.finish(signed)
            try store.put(row)
            let new =
                if let old {
                    ProviderKeyRow(
                        id: old.id, name: name, topic: old.topic, key: key,
                        generation: try store.providerNames.generation(after: old.generation), createdAt: now, keys: keys)
                } else {
                    ProviderKeyRow(
                        id: try store.newRowNumber(in: ProviderKeyRow.self), name: name, topic: signed.request.topic,
                        key: key, generation: 1, createdAt: now, keys: keys)
                }
            try store.put(new)
            try store.providerNames.keepDefault()
            return SenderKeyRecovery(record: try store.record(new), replaced: old?.publicKey)
        }
        // The recovery is done; a reader that holds the log for a moment is no failure.
        try? withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        return result
    }

    /// Returns the recovery keys of a sender key that phones are told of, at most two.
    public func announcedRecoveryKeys(of name: String? = nil) throws(KeyStoreError) -> [RecoveryPublicKey] {
        try read { (store) throws(KeyStoreError) in
            try store.recoveryRow(store.recoveryName(name).name)?.announcedKeys ?? []
        }
    }

    /// Replaces the recovery keys that registration replies and records of the sender key carry.
    ///
    /// A device that has pinned any keeps those; others reach it with an app release.
    ///
    /// - Parameters:
    ///   - keys: At most two, which differ.
    ///   - name: The name; nil for the default.
    ///   - now: The present time.
    /// - Throws: `unknownName`, `ambiguousName`, `invalidName`; `senderSuperseded` for a key that is or was a sender's.
    public func setAnnouncedRecoveryKeys(
        _ keys: [RecoveryPublicKey], of name: String? = nil, at now: Timestamp
    ) throws(KeyStoreError) {
        precondition(
            keys.count <= RecoveryPublicKey.maximumPerSender && Set(keys).count == keys.count,
            "a sender has at most two different recovery keys")
        try write(at: now) { (store) throws(KeyStoreError) in
            let name = try store.providerKeyRow(name).name
            try store.checkAreNoSenders(keys)
            var row = try store.recoveryRow(name) ?? RecoveryRow(name: name)
            row.announce(keys)
            try store.put(row)
        }
    }
}

extension StoreTransaction {
    /// Returns the recovery keys that any of the store's sender keys has or had.
    func knownRecoveryKeys() throws(KeyStoreError) -> Set<RecoveryPublicKey> {
        Set(try rows(RecoveryRow.self, "").flatMap(\.recoveryKeys))
    }

    /// Throws `senderSuperseded` for a key that is or was a sender's. (`Docs/Format.md`, K-10)
    fileprivate func checkAreNoSenders(_ keys: [RecoveryPublicKey]) throws(KeyStoreError) {
        let senders = try knownProviders()
        if let key = keys.first(where: { key in senders.contains { $0.bytes == key.bytes } }) {
            throw KeyStoreError(
                .senderSuperseded, "key \(key.id) is a sender's key and cannot be a recovery key: make another")
        }
    }

    fileprivate func recoveryRow(_ name: String) throws(KeyStoreError) -> RecoveryRow? {
        try row(RecoveryRow.self, key: .text(name))
    }

    /// Returns the name that a caller means, and its key; a name without a key is a lost store's.
    fileprivate func recoveryName(_ name: String?) throws(KeyStoreError) -> (name: String, key: ProviderKeyRow?) {
        if let name { try StoreName.check(name, "the name of a sender key") }
        let isThere = if let name { try providerNames.exists(name) } else { try !providerNames.all().isEmpty }
        guard isThere else { return (name ?? SQLiteKeyStore.defaultName, nil) }
        let row = try providerKeyRow(name)
        return (row.name, row)
    }
}
