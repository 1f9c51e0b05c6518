public import Pushcrypt

/// The one database of an extension, `extension.db`: the messages that were shown, what messages have told of providers
/// and keys, the journal, the responses that the app has not handled yet, and what the user can answer with.
///
/// An extension only reads the device's keys, so what it learns is kept here until the app merges it. Each write is a
/// separate transaction, on the disk when the call returns: one that fails stops no other. Any number of threads and
/// processes may use one file, and be killed at any moment. A missing or damaged file is recreated by the next write.
///
/// It holds no secret that is not sealed to a device key, and an extension needs no key to use it. Nothing in it is trusted as such: each certificate is
/// verified under its provider's key when it is used. Someone who can write the file can make the guard forget or
/// ignore messages, undo what was learned since the last merge, and make the app confirm one of its pending keys.
public final class ExtensionDatabase: Sendable {
    /// The name of the file.
    static let fileName = RecoverableDatabase.name
    /// How long a call waits for other processes, in milliseconds: a notification extension has 30 seconds for all its
    /// work.
    package static let busyTimeout: Int32 = 2000

    let file: Locked<RecoverableDatabase>
    let maximumRows: Int
    /// Ends, from any thread, a call that is being made, so that no lock is held while the process is suspended.
    /// Nothing of it is then kept, and the call reports the problem.
    package let interruption: SQLiteInterruption

    /// Uses the file in this directory, which the app has created. Never fails: if the file cannot be used, each call
    /// says why.
    public convenience init(in directory: String) {
        self.init(in: directory, busyTimeout: Self.busyTimeout)
    }

    package convenience init(
        in directory: String, busyTimeout: Int32, maximumRows: Int = ReplayRules.maximumRows
    ) {
        self.init(RecoverableDatabase(in: directory, busyTimeout: busyTimeout), maximumRows: maximumRows)
    }

    private init(_ file: RecoverableDatabase, maximumRows: Int) {
        interruption = file.interruption
        self.file = Locked(file)
        self.maximumRows = maximumRows
    }

    /// Creates the file, when a device is enrolled; messages sent at or before `floor` never count as new.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeExists`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ExtensionDatabase {
        let file = RecoverableDatabase(in: directory, busyTimeout: busyTimeout)
        try file.create(floor: floor)
        return ExtensionDatabase(file, maximumRows: ReplayRules.maximumRows)
    }

    /// Remembers the messages that were shown.
    package var replay: ReplayGuard { ReplayGuard(database: self) }

    /// The last deliveries, for debugging.
    public var journal: Journal { Journal(database: self) }

    /// The user's responses that the app could not handle yet.
    package var responses: Responses { Responses(database: self) }

    /// What the user can answer messages with.
    package var answerKeys: AnswerKeys { AnswerKeys(database: self) }

    // MARK: Transactions

    func write<R>(
        at now: Timestamp, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try file.withLock { (file) throws(KeyStoreError) in try file.write(at: now, body) }
    }

    /// Reads; returns nil if there is no file, or a damaged one.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        try file.withLock { (file) throws(KeyStoreError) in try file.readUndamaged(body) }
    }

    /// Changes what is there; nothing if there is no file, or a damaged one.
    func writeIfPresent(_ body: (SQLiteConnection) throws(KeyStoreError) -> Void) throws(KeyStoreError) {
        do throws(KeyStoreError) {
            try file.withLock { (file) throws(KeyStoreError) in try file.writeIfPresent(body) }
        } catch {
            guard error.code == .corruptStore else { throw error }
        }
    }
}

// MARK: Learned trust

extension ExtensionDatabase {
    /// The result of a merge.
    public struct MergeResult: Hashable, Sendable {
        /// The keys that were pending and are now active.
        public var confirmed: [DeviceKeyRecord] = []
        /// The number of certificates that were news to the store.
        public var raised = 0
        /// The number of certificates that contradict an accepted one: evidence that a provider key was stolen.
        public var conflicts = 0
        /// The number of entries that no provider key has signed, and that were dropped: the file was damaged or
        /// changed.
        public var refused = 0
    }

    /// Merges what the extension has learned into the app's key store, and removes it here; call this at every launch.
    ///
    /// It may be interrupted anywhere and called again, from any process: merging twice changes nothing. What the
    /// extension stores meanwhile stays for the next time.
    ///
    /// - Parameters:
    ///   - store: The app's keys, which the extension only reads.
    ///   - grace: How long after `now` a replaced device key still opens.
    ///   - now: The present time.
    /// - Throws: The errors of the key store; `storeMissing` if the directory does not exist,
    ///   `storeBusy`, `diskFull`, `inputOutput`, `newerVersion`. The rest is still there then.
    public func merge<Store: DeviceKeyStore>(
        into store: Store, grace: Interval = Store.standardGrace, at now: Timestamp
    ) throws(KeyStoreError) -> MergeResult {
        let found = try read { (connection) throws(KeyStoreError) in
            let tables = LearnedTables(connection: connection)
            return (keys: try tables.openedWith(), entries: try tables.entries())
        }
        var result = MergeResult()
        guard let (keys, entries) = found, !keys.isEmpty || !entries.isEmpty else { return result }
        for key in keys {
            // A key that this device's store does not have as pending is ignored.
            let pending = try store.deviceKeys().first { $0.state == .pending && $0.publicKey.bytes == key }
            guard let pending else { continue }
            let record = try store.confirmDeviceKey(
                named: pending.name, acknowledged: pending.keyID, grace: grace, at: now)
            if let record { result.confirmed.append(record) }
        }
        for entry in entries {
            guard let entry = entry.checked else {
                result.refused += 1
                continue
            }
            switch try store.acceptCertificate(entry.certificate, of: entry.provider, topic: entry.topic, at: now) {
            case .raised: result.raised += 1
            case .conflict: result.conflicts += 1
            case .unchanged: break
            }
        }
        try writeIfPresent { (connection) throws(KeyStoreError) in
            let tables = LearnedTables(connection: connection)
            for key in keys { try tables.delete(openedWith: key) }
            for entry in entries { try tables.delete(entry) }
        }
        return result
    }

    /// Returns the certificates kept for an app, by the bytes of their provider's key; their signatures are not
    /// checked.
    func learned(for topic: Topic) throws(KeyStoreError) -> [Bytes: [Certificate]] {
        let certificates = try read { (connection) throws(KeyStoreError) in
            try LearnedTables(connection: connection).certificates(for: topic)
        }
        return certificates ?? [:]
    }

    /// Keeps what a message has told; does not write what is kept already.
    func keep(
        openedWith pending: DevicePublicKey?, _ certificate: Certificate?, of provider: ProviderPublicKey,
        _ topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError) {
        guard pending != nil || certificate != nil else { return }
        // Readers do not wait for each other.
        let isKept = try? read { (connection) throws(KeyStoreError) in
            try LearnedTables(connection: connection).has(pending, certificate, provider, topic)
        }
        guard isKept != true else { return }
        try write(at: now) { (connection) throws(KeyStoreError) in
            let tables = LearnedTables(connection: connection)
            if let pending { try tables.insert(openedWith: pending.bytes) }
            if let certificate { try tables.insert(certificate, of: provider, topic) }
        }
    }
}
