internal import Pushcrypt

/// The row of a device id. A removed device keeps no key and no address, only the key's id and, in `suites`, the key's suite. Of a
/// device that is held, `lost` says that its grant has ended.
struct HeldRow: StoredRow {
    static let table = StoreTable(
        "devices", key: "id", "public_key", "key_id", "generation", "created", "updated", "user", "topic", "provider",
        "epoch", "suites", "app_version", "token", "environment", "update_key", "sequence", "relay_grant", "removed",
        "reason", "lost")
    static let put = table.put
    /// The value stored as NULL: nearly every device reports it.
    private static let usualSuites = RegistrationReply.standardSuites

    let held: Held

    init(_ held: Held) { self.held = held }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let (id, publicKey) = (try columns.text(), try columns.optionalDevicePublicKey())
        // Of an authentic row it is the key's: to compare would be to hash each key that is sealed to.
        let keyID = try columns.optionalUnsigned()
        let generation = try columns.optionalUnsigned()
        let (createdAt, updatedAt) = (try columns.optionalTime(), try columns.optionalTime())
        let (user, topic) = (try columns.optionalText(), try columns.topic())
        let (pinnedProvider, epoch) = (try columns.optionalProviderPublicKey(), try columns.optionalEpoch())
        let suites = try columns.optionalBlob().map(Array.init)
        let (appVersion, token) = (try columns.appVersion(), try columns.optionalBlob()?.hex)
        let environment = try columns.pushEnvironment()
        let (updateKey, sequence) = (try columns.optionalSigningPublicKey(), try columns.unsigned())
        let (grant, removedAt) = (try columns.optionalText(), try columns.optionalTime())
        let (reason, isLost) = (try columns.optionalText(), try columns.optionalUnsigned() != nil)
        if let removedAt {
            var key: RemovedDevice.LastKey?
            if let generation {
                guard let suite = suites?.first.flatMap(CipherSuite.init(rawValue:)),
                    let keyID = keyID.flatMap(UInt32.init(exactly:))
                else { throw columns.damaged }
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
                device.environment.map { .integer($0.code) } ?? .null, .blob(device.updateKey?.bytes),
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

extension PushEnvironment {
    fileprivate var code: Int64 {
        switch self {
        case .production: 1
        case .development: 2
        }
    }
}

extension ColumnReader {
    fileprivate mutating func pushEnvironment() throws(KeyStoreError) -> PushEnvironment? {
        switch try optionalUnsigned() {
        case nil: nil
        case 1: .production
        case 2: .development
        default: throw damaged
        }
    }
}

/// A key that a device had before its present one: it answers what was sealed to it.
struct EarlierKeyRow: StoredRow {
    static let table = StoreTable("earlier_keys", key: "key_id, device, replaced", count: 3, "public_key")
    static let put = table.put

    let device: String
    let publicKey: DevicePublicKey
    let replacedAt: Timestamp

    init(device: String, _ publicKey: DevicePublicKey, replacedAt: Timestamp) {
        (self.device, self.publicKey, self.replacedAt) = (device, publicKey, replacedAt)
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let id = try columns.integer()
        (device, replacedAt) = (try columns.text(), try columns.time())
        guard let key = try columns.optionalDevicePublicKey(), id == Int64(key.id.value) else { throw columns.damaged }
        publicKey = key
    }

    var values: [SQLiteValue] {
        [.integer(Int64(publicKey.id.value)), .text(device), .time(replacedAt), .blob(publicKey.bytes)]
    }
}

// MARK: Look-ups
extension StoreTransaction {
    func held(_ id: String) throws(KeyStoreError) -> Held? {
        let row: HeldRow? = try row(key: .text(id))
        return row?.held
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

    /// Whether a device had a key before its present one.
    func hasHad(_ key: DevicePublicKey, _ device: String) throws(KeyStoreError) -> Bool {
        try rows(EarlierKeyRow.self, "WHERE device = ?", .text(device)).contains { $0.publicKey == key }
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
