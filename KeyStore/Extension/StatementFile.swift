public import Pushcrypt

/// What an extension has learnt from messages and the app has not taken in yet: the file `statements.db` beside the replay
/// guard's.
///
/// An extension only reads the keys, so what a message changes goes here: rotation statements that were verified, and the
/// pending device keys that opened something. `ExtensionKeys` believes the statements on top of the pinned senders; the app
/// takes everything in with `merge`. (`Docs/Format.md`, Rotation)
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds nothing secret, and nothing
/// in it is believed by itself: every statement is verified against the pinned senders each time it is used. Who can write
/// the file can take back what the extension has learnt; can bring in a statement that pinned keys did sign, after its time
/// to be accepted; and can make the app confirm a key of its own that is pending. No key is ever believed that a pinned
/// one did not sign for.
public final class StatementFile: Sendable {
    /// The most statements that are kept, and the most keys; an app that is never opened comes nowhere near.
    public static let capacity = 64

    private let file: Locked<RecoverableDatabase>

    /// Uses the file in this directory, which is made when something is to be kept; a damaged one is made anew.
    ///
    /// The directory is made by the app, in the group container that it shares with the extension.
    public init(in directory: String) {
        file = Locked(RecoverableDatabase(StatementTables.kind, in: directory, busyTimeout: ReplayFile.busyTimeout))
    }

    // MARK: For the extension

    /// Keeps that a message was opened with a pending key, and the statements it brought; what is kept already is passed
    /// over without writing.
    ///
    /// - Parameters:
    ///   - pending: the key, if it is pending; nil for any other.
    ///   - statements: the statements that the message brought, as its opener has accepted them.
    ///   - topic: the app that the message was for.
    ///   - now: when the statements took effect: they are believed from here on, also when their time to be accepted ends
    ///     before the app takes them in.
    /// - Throws: `rotationRefused` when the file is full; `storeMissing` when the directory is not there, `unsafeStoreFile`,
    ///   `storeBusy`, `diskFull`, `inputOutput`, `newerVersion`. Nothing is kept then.
    public func keep(
        openedWith pending: DevicePublicKey?, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {
        guard pending != nil || !statements.isEmpty else { return }
        try file.withLock { (file) throws(KeyStoreError) in
            // Readers do not wait for each other.
            let isKept = try? file.read { (connection) throws(KeyStoreError) in
                try StatementTables(connection: connection).hasAll(pending, statements, topic)
            }
            guard isKept != true else { return }
            try file.write { (connection) throws(KeyStoreError) in
                let tables = StatementTables(connection: connection)
                if let pending { try tables.insert(openedWith: pending.bytes) }
                for statement in statements { try tables.insert(statement, topic, at: now) }
            }
        }
    }

    /// The statements that were kept for an app, oldest first.
    ///
    /// - Throws: `corruptStore`, and what `keep` throws; a file that is not there has no statements.
    func statements(for topic: Topic) throws(KeyStoreError) -> [StatementTables.Kept] {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.read { (connection) throws(KeyStoreError) in
                try StatementTables(connection: connection).statements(for: topic)
            } ?? []
        }
    }

    // MARK: For the app

    /// What an app has taken in.
    public struct MergeResult: Hashable, Sendable {
        /// The keys that were pending and are active now.
        public var confirmed: [DeviceKeyRecord] = []
        /// The senders that have rotated.
        public var rotated: [SenderTrust.Change] = []
        /// How many statements do not fit what is trusted now, and are dropped.
        public var refused = 0
        /// How many statements contradict one that was accepted: evidence that an old sender key was stolen.
        public var conflicts = 0
    }

    /// Takes what the extension has learnt into the app's key store, and removes it here; call it at every launch.
    ///
    /// May end at any point and be called again: what was taken in changes nothing the second time. What the extension
    /// keeps meanwhile stays for the next time.
    ///
    /// - Parameters:
    ///   - store: the app's keys, those that the extension only reads.
    ///   - grace: How long a replaced device key still opens.
    ///   - now: the present time, from which the grace counts.
    /// - Throws: what `keep` and the key store throw; the rest is still there then. A damaged file is made anew.
    public func merge<Store: DeviceKeyStore>(
        into store: Store, grace: Interval = Store.standardGrace, at now: Timestamp
    ) throws(KeyStoreError) -> MergeResult {
        let (keys, statements) = try everything()
        var result = MergeResult()
        guard !keys.isEmpty || !statements.isEmpty else { return result }
        for key in keys {
            // A name that this device's store does not know as pending is nothing.
            let pending = try store.deviceKeys().first { $0.state == .pending && $0.publicKey.bytes == key }
            guard let pending else { continue }
            let record = try store.confirmDeviceKey(
                named: pending.name, acknowledged: pending.keyID, grace: grace, at: now)
            if let record { result.confirmed.append(record) }
        }
        for kept in statements {
            do throws(KeyStoreError) {
                result.rotated += try store.acceptStatements(
                    [kept.statement], topic: kept.topic, at: min(kept.acceptedAt, now)
                ).filter { $0 != .unchanged }
            } catch {
                switch error.code {
                case .rotationConflict: result.conflicts += 1
                case .rotationRefused: result.refused += 1
                default: throw error
                }
            }
        }
        try remove(keys, statements)
        return result
    }

    private func everything() throws(KeyStoreError) -> (keys: [Bytes], statements: [StatementTables.Kept]) {
        func read(_ connection: SQLiteConnection) throws(KeyStoreError) -> ([Bytes], [StatementTables.Kept]) {
            let tables = StatementTables(connection: connection)
            return (try tables.openedWith(), try tables.statements())
        }
        return try file.withLock { (file) throws(KeyStoreError) in
            try file.readOrRemake(read) ?? ([], [])
        }
    }

    private func remove(_ keys: [Bytes], _ statements: [StatementTables.Kept]) throws(KeyStoreError) {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.write { (connection) throws(KeyStoreError) in
                let tables = StatementTables(connection: connection)
                for key in keys { try tables.delete(openedWith: key) }
                for statement in statements { try tables.delete(statement) }
            }
        }
    }
}
