internal import Pushcrypt

/// The row of a device id. A removed device keeps no key and no address, only the key's id and, in `suites`, the key's suite. Of a
/// device that is held, `lost` says that its grant has ended.
struct HeldRow: StoredRow {
    static let table = StoreTable(
        "devices", key: "id",
        columns: "public_key", "key_id", "generation", "created", "updated", "user", "topic", "provider", "epoch",
        "suites",
        "app_version", "token", "environment", "update_key", "sequence", "relay_grant", "removed", "reason", "lost")
    fileprivate static let selectByID = "\(table.select) WHERE id = ?"
    /// The value stored as NULL: nearly every device reports it.
    private static let usualSuites = RegistrationReply.standardSuites

    let held: Held

    init(_ held: Held) { self.held = held }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let (id, publicKey) = (try columns.text(), try columns.optionalDeviceKey())
        // Of an authentic row it is the key's: to compare would be to hash each key that is sealed to.
        let keyID = try columns.optionalNumber(UInt32.init(exactly:))
        let generation = try columns.optionalNumber()
        let (createdAt, updatedAt) = (try columns.optionalTime(), try columns.optionalTime())
        let (user, topic) = (try columns.optionalText(), try columns.optionalText { try? Topic($0) })
        let pinnedProvider = try columns.optionalProviderKey()
        let epoch = try columns.optionalNumber(UInt32.init(exactly:))
        let suites = try columns.optionalBlob(Array.init)
        let appVersion = try columns.optionalText { AppVersion($0) }
        let token = try columns.optionalBlob(\.hex)
        let environment: PushEnvironment? = try columns.optionalNumber {
            $0 == 1 ? .production : $0 == 2 ? .development : nil
        }
        let (updateKey, sequence) = (try columns.optionalSigningKey(), try columns.number())
        let (grant, removedAt) = (try columns.optionalText(), try columns.optionalTime())
        let (reason, isLost) = (try columns.optionalText(), try columns.optionalNumber() != nil)
        if let removedAt {
            var key: RemovedDevice.LastKey?
            if let generation {
                guard let suite = suites?.first.flatMap(CipherSuite.init(rawValue:)), let keyID else {
                    throw columns.damaged
                }
                key = RemovedDevice.LastKey(generation: generation, suite: suite, id: KeyID(value: keyID))
            }
            held = .removed(
                RemovedDevice(
                    id: id, removedAt: removedAt, reason: reason, user: user, topic: topic, lastKey: key,
                    signing: RemovedDevice.Signing(updateKey: updateKey, sequence: sequence), isLost: isLost))
            return
        }
        guard let publicKey, let generation, let createdAt, let updatedAt else { throw columns.damaged }
        held = .device(
            DeviceRecord(
                id: id, user: user, publicKey: publicKey, topic: topic, generation: generation, createdAt: createdAt,
                updatedAt: updatedAt, pinnedProvider: pinnedProvider, epoch: epoch, suites: suites ?? Self.usualSuites,
                appVersion: appVersion, token: token, environment: environment, updateKey: updateKey,
                sequence: sequence, grant: isLost ? nil : grant, endedGrant: isLost ? grant : nil))
    }

    var values: [SQLiteValue] {
        switch held {
        case .device(let device):
            [
                .text(device.id), .blob(device.publicKey.bytes), .integer(Int64(device.publicKey.id.value)),
                .unsigned(device.generation), .time(device.createdAt), .time(device.updatedAt), .text(device.user),
                .text(device.topic?.bundleID), .blob(device.pinnedProvider?.bytes),
                device.epoch.map { .integer(Int64($0)) } ?? .null,
                device.suites == Self.usualSuites ? .null : .blob(Bytes(device.suites)),
                .text(device.appVersion?.description), .blob(device.token.flatMap(Bytes.init(lowerCaseHex:))),
                device.environment.map { .integer($0 == .production ? 1 : 2) } ?? .null, .blob(device.updateKey?.bytes),
                .unsigned(device.sequence), .text(device.grant ?? device.endedGrant), .null, .null,
                device.endedGrant == nil ? .null : .integer(1),
            ]
        case .removed(let removed):
            [
                .text(removed.id), .null, removed.lastKey.map { .integer(Int64($0.id.value)) } ?? .null,
                removed.lastKey.map { .unsigned($0.generation) } ?? .null, .null, .null, .text(removed.user),
                .text(removed.topic?.bundleID), .null, .null,
                .blob(removed.lastKey.map { [$0.suite.rawValue] }), .null, .null, .null,
                .blob(removed.signing.updateKey?.bytes), .unsigned(removed.signing.sequence), .null,
                .time(removed.removedAt), .text(removed.reason), removed.isLost ? .integer(1) : .null,
            ]
        }
    }
}

/// A key that a device had before its present one: it answers what was sealed to it.
struct EarlierKeyRow: StoredRow {
    static let table = StoreTable("earlier_keys", key: "key_id", "device", "replaced", columns: "public_key")

    let device: String
    let publicKey: DevicePublicKey
    let replacedAt: Timestamp

    init(device: String, _ publicKey: DevicePublicKey, replacedAt: Timestamp) {
        (self.device, self.publicKey, self.replacedAt) = (device, publicKey, replacedAt)
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let id = try columns.number()
        (device, replacedAt) = (try columns.text(), try columns.time())
        guard let key = try columns.optionalDeviceKey(), id == UInt64(key.id.value) else { throw columns.damaged }
        publicKey = key
    }

    var values: [SQLiteValue] {
        [.integer(Int64(publicKey.id.value)), .text(device), .time(replacedAt), .blob(publicKey.bytes)]
    }
}

// MARK: Held rows

extension Held {
    var device: DeviceRecord? { if case .device(let device) = self { device } else { nil } }

    var removed: RemovedDevice? { if case .removed(let removed) = self { removed } else { nil } }

    var id: String {
        switch self {
        case .device(let device): device.id
        case .removed(let removed): removed.id
        }
    }

    var user: String? { device?.user ?? removed?.user }

    var topic: Topic? { device?.topic ?? removed?.topic }

    /// The key under which records are signed, and the last sequence.
    var signing: RemovedDevice.Signing {
        switch self {
        case .device(let device): RemovedDevice.Signing(updateKey: device.updateKey, sequence: device.sequence)
        case .removed(let removed): removed.signing
        }
    }

    var lastKey: RemovedDevice.LastKey? {
        guard let device else { return removed?.lastKey }
        return RemovedDevice.LastKey(
            generation: device.generation, suite: device.publicKey.suite, id: device.publicKey.id)
    }

    /// The suite and the generation of a key; the later one counts.
    struct Rank: Comparable {
        var suite = CipherSuite.x25519
        var generation: UInt64 = 0

        static func < (a: Rank, b: Rank) -> Bool { (a.suite, a.generation) < (b.suite, b.generation) }
    }

    var rank: Rank? {
        if let device { return Rank(suite: device.publicKey.suite, generation: device.generation) }
        return removed?.lastKey.map { Rank(suite: $0.suite, generation: $0.generation) }
    }

    /// Whether the device has ended itself, for good.
    var isEnd: Bool { removed?.isEnd ?? false }

    /// Whether a record without a session may change the device. [D-23]
    var acceptsOpenRecords: Bool { removed?.isLost ?? true }

    /// Whether the device's last key was this one; of a removed device's key only the id is known.
    func hasLast(_ key: DevicePublicKey) -> Bool {
        if let device { return device.publicKey == key }
        return lastKey?.id == key.id
    }

    /// Returns the row with this sequence, so that a record that another store has taken is old here too; nil if it is not higher.
    /// [D-40]
    func raised(to sequence: UInt64?) -> Held? {
        guard let sequence, sequence > signing.sequence else { return nil }
        switch self {
        case .device(var device):
            device.sequence = sequence
            return .device(device)
        case .removed(var removed):
            removed.signing.sequence = sequence
            return .removed(removed)
        }
    }
}

// MARK: Look-ups
extension StoreTransaction {
    func held(_ id: String) throws(KeyStoreError) -> Held? {
        let rows: [HeldRow] = try connection.rows(HeldRow.selectByID, [.text(id)], verified)
        guard let held = rows.first?.held else { return nil }
        // In a database whose declarations were changed, two different texts may compare equal.
        guard StoreName.areEqual(held.id, id) else { throw .damagedRow(.text(held.id), in: HeldRow.table.name) }
        return held
    }

    /// Returns what a sound row says.
    func heldIfSound(_ id: String) throws(KeyStoreError) -> Held? {
        do throws(KeyStoreError) {
            return try held(id)
        } catch {
            guard error.concernsOneRow else { throw error }
            return nil
        }
    }

    /// Returns the devices with a key's id.
    func devices(withKey id: KeyID) throws(KeyStoreError) -> [DeviceRecord] {
        try soundDevices("key_id = ?", [.integer(Int64(id.value))])
    }

    /// Returns the devices that a clause selects, without the damaged rows, and those that only a forged index lists: they
    /// have neither key nor token.
    func soundDevices(_ clause: String, _ values: [SQLiteValue]) throws(KeyStoreError) -> [DeviceRecord] {
        try connection.rows("\(HeldRow.table.select) WHERE removed IS NULL AND \(clause)", values) {
            (row) -> DeviceRecord? in
            do throws(KeyStoreError) { return (try verified(row) as HeldRow).held.device } catch { return nil }
        }.compactMap(\.self)
    }

    /// Returns the devices that have a key with this id, or had it within 32 days, each with the key.
    func devices(withKey id: KeyID, at now: Timestamp) throws(KeyStoreError) -> [(
        record: DeviceRecord, key: DevicePublicKey
    )] {
        var found = try devices(withKey: id).map { (record: $0, key: $0.publicKey) }
        let earlier = try rows(EarlierKeyRow.self, "WHERE key_id = ? ORDER BY replaced", .integer(Int64(id.value)))
        for row in earlier where now <= row.replacedAt.adding(ProviderState.answerGrace) {
            guard let device = try held(row.device)?.device else { continue }
            found.append((device, row.publicKey))
        }
        return found
    }
}

// MARK: Changes
extension StoreTransaction {
    /// Whether there is an answer secret: without one no message can be answered.
    private var mayBeAnswered: Bool { get throws(KeyStoreError) { try providerIfSound()?.hasAnswerSecrets ?? true } }

    /// Puts the rows of a change, the last of which is of the device that it is about.
    func perform(_ change: Change, at now: Timestamp) throws(KeyStoreError) {
        for held in change.put {
            if held.device == nil || change.endsEarlierKeys {
                try connection.rows("DELETE FROM earlier_keys WHERE device = ?", [.text(held.id)])
            }
            try put(HeldRow(held))
        }
        guard let key = change.replacedKey, let id = change.put.last?.id, try mayBeAnswered else { return }
        let end = Int64(clamping: now.subtracting(ProviderState.answerGrace).milliseconds)
        try connection.rows("DELETE FROM earlier_keys WHERE device = ? AND replaced < ?", [.text(id), .integer(end)])
        try put(EarlierKeyRow(device: id, key, replacedAt: now))
    }
}
