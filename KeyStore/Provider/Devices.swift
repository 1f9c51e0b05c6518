public import Pushcrypt

/// A device that a provider seals to.
public struct DeviceRecord: Hashable, Sendable {
    /// The provider's own name for it, 1 to 255 bytes.
    public let id: String
    /// What to seal to.
    public let publicKey: DevicePublicKey
    /// The app the key is for; nil when it is not bound to one.
    public let topic: Topic?
    /// Counts the device's keys.
    public let generation: UInt64
    /// When the device made its key.
    public let createdAt: Timestamp
    /// When the record last changed here.
    public let updatedAt: Timestamp
    /// The sender key that the device said it believes.
    public let pinnedSender: SenderPublicKey?
    /// The suites that the device said it opens, in ascending order.
    public let suites: [UInt8]
    /// The version of the app that the device said it runs.
    public let appVersion: AppVersion?
}

/// What a registration did to what was held.
public enum RegistrationOutcome: Hashable, Sendable {
    /// Nothing was held under this name.
    case added
    /// The record has changed.
    case updated
    /// The record said the same already.
    case unchanged
}

// A provider's devices, by an id of the provider's own.
extension SQLiteKeyStore {
    private static let pageLength = 1000

    /// Takes a device's registration, over an authenticated channel of the caller's.
    ///
    /// A registration without a topic keeps the topic that is held. `replace` takes it whatever is held, for a device
    /// that was set up anew; it never comes from the device itself.
    ///
    /// - Throws: `invalidName`; `generationRollback` for a lower generation than is held, or the same with another key;
    ///   `topicMismatch` for a device that is held for another app.
    @discardableResult
    public func addDevice(
        id: String, _ registration: DeviceRegistration, replace: Bool = false, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try write { (store) throws(KeyStoreError) in
            try store.register(registration, id: id, replace: replace, now: now)
        }
    }

    /// The device with this id, or nil. The row is authenticated: nobody without the store key can swap its public key.
    public func device(_ id: String) throws(KeyStoreError) -> DeviceRecord? {
        try readOnce { (store) throws(KeyStoreError) in try store.device(id)?.record }
    }

    /// The devices with these ids, in one snapshot: three times faster than one by one.
    public func devices(_ ids: [String]) throws(KeyStoreError) -> [DeviceRecord?] {
        try read { (store) throws(KeyStoreError) in
            var records: [DeviceRecord?] = []
            records.reserveCapacity(ids.count)
            for id in ids { records.append(try store.device(id)?.record) }
            return records
        }
    }

    /// Gives every device to `body`, by id. The store is not held while `body` runs: of devices that others add or
    /// remove meanwhile, some may be seen.
    public func forEachDevice(_ body: (DeviceRecord) throws -> Void) throws {
        var last = ""
        while true {
            let page = try readOnce { (store) throws(KeyStoreError) in
                try store.rows(
                    DeviceRow.self, "WHERE id > ? ORDER BY id LIMIT ?", .text(last), .integer(Int64(Self.pageLength)))
            }
            for row in page { try body(row.record) }
            guard page.count == Self.pageLength, let end = page.last else { return }
            last = end.record.id
        }
    }

    /// Removes a device; tells whether there was one.
    @discardableResult
    public func removeDevice(_ id: String) throws(KeyStoreError) -> Bool {
        try write { (store) throws(KeyStoreError) in try store.delete(DeviceRow.self, key: .text(id)) }
    }

    /// How many devices there are.
    public func deviceCount() throws(KeyStoreError) -> Int {
        try readOnce { (store) throws(KeyStoreError) in
            Int(clamping: try store.connection.integer("SELECT count(*) FROM devices"))
        }
    }
}

struct DeviceRow: StoredRow {
    static let table = StoreTable(
        "devices", key: "id", "public_key", "topic", "generation", "created", "updated", "pinned_sender",
        added: ["suites", "app_version"])
    /// What NULL stands for: nearly every device says this, and a device of an older store has said nothing else.
    private static let usualSuites = [Envelope.suite]

    let record: DeviceRecord

    init(_ record: DeviceRecord) { self.record = record }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        record = DeviceRecord(
            id: try columns.text(), publicKey: try columns.devicePublicKey(), topic: try columns.topic(),
            generation: try columns.unsigned(), createdAt: try columns.time(), updatedAt: try columns.time(),
            pinnedSender: try columns.optionalSenderPublicKey(),
            suites: try columns.optionalBlob().map(Array.init) ?? Self.usualSuites,
            appVersion: try columns.appVersion())
    }

    var values: [SQLiteValue] {
        [
            .text(record.id), .blob(record.publicKey.bytes), .text(record.topic?.bundleID),
            .unsigned(record.generation), .time(record.createdAt), .time(record.updatedAt),
            .blob(record.pinnedSender?.bytes),
            record.suites == Self.usualSuites ? .null : .blob(Bytes(record.suites)),
            .text(record.appVersion?.description),
        ]
    }
}

extension StoreTransaction {
    func device(_ id: String) throws(KeyStoreError) -> DeviceRow? {
        try row(key: .text(id))
    }

    func register(
        _ registration: DeviceRegistration, id: String, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.check(id, "a device id")
        // A caller that takes an id or a key would take it for a key.
        guard !id.hasPrefix("pcr1") else {
            throw KeyStoreError(
                .invalidName, "a device id does not begin with pcr1, as a public key does; name the device otherwise")
        }
        if replace {
            // What is held is not read: this mends a damaged row too.
            let isNew = try !delete(DeviceRow.self, key: .text(id))
            try put(DeviceRow(DeviceRecord(registration, id: id, topic: registration.topic, now: now)))
            return isNew ? .added : .updated
        }
        guard let old = try device(id)?.record else {
            try put(DeviceRow(DeviceRecord(registration, id: id, topic: registration.topic, now: now)))
            return .added
        }
        guard registration.generation >= old.generation else {
            throw KeyStoreError(
                .generationRollback,
                "device '\(id)' registered generation \(old.generation) before, this is \(registration.generation): an old copy; --replace takes it if the device was set up anew"
            )
        }
        guard registration.generation > old.generation || registration.publicKey == old.publicKey else {
            throw KeyStoreError(
                .generationRollback,
                "device '\(id)' registered another key with generation \(old.generation) before; --replace takes this one if the device was set up anew"
            )
        }
        if let topic = registration.topic, let oldTopic = old.topic, topic != oldTopic {
            throw KeyStoreError(
                .topicMismatch, "device '\(id)' is held for \(oldTopic), not for \(topic); --replace takes it")
        }
        let record = DeviceRecord(registration, id: id, topic: registration.topic ?? old.topic, now: now)
        guard record.says(somethingElseThan: old) else { return .unchanged }
        try put(DeviceRow(record))
        return .updated
    }
}

extension DeviceRecord {
    fileprivate init(_ registration: DeviceRegistration, id: String, topic: Topic?, now: Timestamp) {
        self.id = id
        publicKey = registration.publicKey
        self.topic = topic
        generation = registration.generation
        createdAt = registration.createdAt
        updatedAt = now
        pinnedSender = registration.pinnedSender
        suites = registration.suites
        appVersion = registration.appVersion
    }

    fileprivate func says(somethingElseThan other: DeviceRecord) -> Bool {
        publicKey != other.publicKey || topic != other.topic || generation != other.generation
            || createdAt != other.createdAt || pinnedSender != other.pinnedSender || suites != other.suites
            || appVersion != other.appVersion
    }
}
