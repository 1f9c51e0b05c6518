package import Pushcrypt

extension SQLiteKeyStore {
    /// The name of the setting with the time at which the store was restored.
    private static let restoredSetting = "store.restored"

    /// Makes a backup the database of a store, which is created if there is none. No process may have the store open.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - directory: The directory of the store.
    ///   - key: The copy of `store.key` that opens it; nil to use the one in the directory.
    ///   - passphrase: The passphrase of the backup, if it has one.
    ///   - replace: Whether to replace a store that has other provider keys, a later epoch or other devices by now, is another
    ///     one, or cannot be read. Later epochs of the same store are noticed as if phones had reported them.
    ///   - withRemoved: Whether devices come back that the store has removed since.
    /// - Returns: What has changed.
    /// - Throws: `storeExists` for a store that only `replace` replaces; `storeBusy` while another process has it open; the
    ///   errors of opening the backup. The store has not changed then.
    package static func restore(
        _ path: String, to directory: String, key: String?, passphrase: StorePassphrase?, replace: Bool,
        withRemoved: Bool = false, options: StoreOptions = StoreOptions(), at now: Timestamp
    ) throws(KeyStoreError) -> RestoreResult {
        // Refused before a directory is created.
        _ = try Restoration.openBackup(path)
        let key: StoreKeyCopy? = if let key { try StoreKeyCopy(at: key) } else { nil }
        return try StoreDirectory.making(directory) { (directory) throws(KeyStoreError) in
            let restoration = Restoration(
                path: path, directory: directory, key: key, passphrase: passphrase, replaces: replace,
                withRemoved: withRemoved, options: options)
            return try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
                try restoration.run(at: now)
            }
        }
    }

    /// Returns when the store was restored from a backup, if it was.
    package func restoredAt() throws(KeyStoreError) -> Timestamp? {
        try read { (store) throws(KeyStoreError) in
            try store.setting(named: Self.restoredSetting).flatMap(UInt64.init).map(Timestamp.init(milliseconds:))
        }
    }

    /// Notes that the store was restored over one with these provider keys, removals and first answers.
    fileprivate func setRestored(
        at time: Timestamp, over former: [ProviderKeyRecord], keeping removals: [RemovedDeviceRow],
        _ answers: [AnswerRow]
    ) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            try store.setSetting("\(time.milliseconds)", named: Self.restoredSetting)
            for key in former {
                guard let certificate = key.certificate, var row = try store.providerKeyRow(of: key.publicKey),
                    certificate.epoch > row.certificate?.epoch ?? 0
                else { continue }
                row.notice(certificate)
                try store.put(row)
                // It may have been stolen: the later store has another.
                try store.replaceAnswerSecret(of: row.id, isStolen: true, at: time)
            }
            for answer in answers { try store.put(answer) }
            try store.forgetPairings()
            for removal in removals {
                try store.deleteDevice(removal.record.id)
                try store.put(removal)
            }
        }
    }
}

/// What a restore has changed.
package struct RestoreResult: Sendable {
    /// The path at which the directory's `store.key` is kept, if it was replaced with another.
    package let formerKey: String?
    /// What has become of the devices and keys of the store that was there, if it was the same one.
    package let difference: RestoreDifference
}

/// One restore; the directory is locked.
struct Restoration {
    private static let newFiles: [StaticString] = [
        SQLiteKeyStore.newDatabaseName, "keystore.db.new-wal", "keystore.db.new-shm", "keystore.db.new-journal",
        StoreKeyFile.newName,
    ]

    let path: String
    let directory: StoreDirectory
    let key: StoreKeyCopy?
    let passphrase: StorePassphrase?
    let replaces: Bool
    let withRemoved: Bool
    let options: StoreOptions

    var new: String { directory.file(SQLiteKeyStore.newDatabaseName) }
    private var database: String { directory.file(SQLiteKeyStore.databaseName) }

    func run(at now: Timestamp) throws(KeyStoreError) -> RestoreResult {
        for name in Self.newFiles { try directory.removeIfPresent(name) }
        do throws(KeyStoreError) {
            try copy()
            let (keys, saved) = try checkBackup()
            // Locked from the comparison to the end.
            let old = try lockOut()
            let former = try old.map { (old) throws(KeyStoreError) in try providerKeys(of: old, keys) } ?? []
            if !replaces { try refuseToReplace(former, by: saved) }
            let difference = try old.map { (old) throws(KeyStoreError) in try self.difference(from: old, keys) }
            let change = try keyChange()
            do {
                let connection = try SQLiteKeyStore.connect(new, named: database, options)
                let removals =
                    try withRemoved || difference == nil
                    ? []
                    : old.map { (old) throws(KeyStoreError) in
                        try soundRows(RemovedDeviceRow.self, in: old, keys)
                    } ?? []
                let answers =
                    try difference == nil
                    ? [] : old.map { (old) throws(KeyStoreError) in try soundRows(AnswerRow.self, in: old, keys) } ?? []
                try SQLiteKeyStore(connection, nil, keys, nil, options)
                    .setRestored(at: now, over: former, keeping: removals, answers)
                try connection.useLog()
            }
            try install(change)
            withExtendedLifetime(old) {}
            return RestoreResult(
                formerKey: change == .replacement ? directory.file(StoreKeyFile.oldName) : nil,
                difference: (difference ?? nil) ?? RestoreDifference())
        } catch {
            for name in Self.newFiles { try? directory.removeIfPresent(name) }
            throw error
        }
    }

    // MARK: The backup

    static func openBackup(_ path: String) throws(KeyStoreError) -> Descriptor {
        let file = try Descriptor(reading: path)
        try FileFacts(of: file).requireRegular(path)
        if let log = try FileFacts(at: realPath(path) + LogFile.log.rawValue), log.size > 0 {
            throw KeyStoreError(
                .corruptStore,
                "\(path) has a log beside it, so it was copied while in use: restore a file that pushcrypt wrote")
        }
        return file
    }

    /// Copies as many bytes as the backup has at the start.
    private func copy() throws(KeyStoreError) {
        let file = try Self.openBackup(path)
        let new = try directory.create(SQLiteKeyStore.newDatabaseName, for: SQLiteKeyStore.databaseName)
        var rest = try FileFacts(of: file).size
        var piece = Bytes(repeating: 0, count: 1 << 16)
        while rest > 0 {
            let count = try unsafe piece.withUnsafeMutableBufferPointer { (buffer) throws(KeyStoreError) in
                var output = unsafe MutableBytes(buffer)
                return try file.read(into: &output)
            }
            guard count > 0 else { break }
            try new.append(piece.span.extracting(0..<min(count, Int(clamping: rest))))
            rest -= Int64(count)
        }
        try new.synchronize()
    }

    /// Checks every row of the copy; returns its keys and provider keys.
    private func checkBackup() throws(KeyStoreError) -> (StoreKeys, [ProviderKeyRecord]) {
        let connection = try SQLiteKeyStore.connect(new, named: path, options)
        try SQLiteKeyStore.checkKind(of: connection)
        if let key, try SQLiteKeyStore.unverifiedHeader(connection).derivation != nil {
            throw KeyStoreError(
                .wrongPassphrase,
                "a passphrase opens the backup \(path), and no key such as \(key.path): leave the key out")
        }
        let source = key.map { StoreKeySource.copy($0) } ?? .file(in: directory)
        let keys = try SQLiteKeyStore.unlock(connection, "the backup \(path)", source, passphrase)
        let store = SQLiteKeyStore(connection, nil, keys, nil, options)
        try store.requireSound("\(path) is damaged")
        return (keys, try store.providerKeys())
    }

    // MARK: The present store

    /// Returns a connection that has locked all others out of the present database, with its log copied into it; nil if there
    /// is none, or none that can be read.
    private func lockOut() throws(KeyStoreError) -> SQLiteConnection? {
        guard try directory.has(SQLiteKeyStore.databaseName) else { return nil }
        do throws(KeyStoreError) {
            let old = try waiting(milliseconds: options.busyTimeout) { () throws(KeyStoreError) -> SQLiteConnection? in
                do throws(KeyStoreError) {
                    let old = try SQLiteConnection(exclusivelyAt: database)
                    _ = try Schema.version(of: old)
                    try old.emptyLog()
                    return old
                } catch {
                    guard error.code == .storeBusy else { throw error }
                    return nil
                }
            }
            if let old { return old }
        } catch {
            guard error.code == .corruptStore else { throw error }
            if replaces { return nil }
            throw cannotCompare(error)
        }
        throw KeyStoreError(
            .storeBusy, "another process has the store at \(directory.path) open: stop it, and try again")
    }

    // MARK: The key

    /// What happens to `store.key`.
    private enum KeyChange { case none, creation, replacement }

    /// Refuses to replace another `store.key` without a request: it may be the only one that opens a database stored
    /// elsewhere.
    private func keyChange() throws(KeyStoreError) -> KeyChange {
        guard let key else { return .none }
        guard try directory.has(StoreKeyFile.name) else { return .creation }
        do throws(KeyStoreError) {
            let current = try StoreKeyFile.read(in: directory)
            if current.withSpan({ current in key.key.withSpan { Sodium.areEqual(current, $0) } }) { return .none }
        } catch {
            // A damaged one is another one.
            guard error.code == .corruptStore else { throw error }
        }
        guard replaces else {
            throw KeyStoreError(
                .storeExists, "\(directory.file(StoreKeyFile.name)) is another key than \(key.path): it is kept")
        }
        guard try !directory.has(StoreKeyFile.oldName) else {
            throw KeyStoreError(
                .storeExists,
                "\(directory.file(StoreKeyFile.oldName)) exists already, the key of an earlier store: move it elsewhere"
            )
        }
        return .replacement
    }

    /// Gives the new files their names. Until the last one has it, the store is the former one if this throws.
    private func install(_ change: KeyChange) throws(KeyStoreError) {
        if let key, change != .none {
            let file = try directory.create(StoreKeyFile.newName, for: StoreKeyFile.name)
            try key.key.withSpan { (key) throws(KeyStoreError) in try file.write(key) }
        }
        // The old log was copied into its database: SQLite would apply it to the new one.
        for name in SQLiteKeyStore.logFiles { try directory.removeIfPresent(name) }
        do throws(KeyStoreError) {
            if change == .replacement { try directory.move(StoreKeyFile.name, to: StoreKeyFile.oldName) }
            if change != .none { try directory.rename(StoreKeyFile.newName, to: StoreKeyFile.name) }
            try directory.move(SQLiteKeyStore.newDatabaseName, to: SQLiteKeyStore.databaseName)
        } catch {
            switch change {
            case .none: break
            case .creation: try? directory.move(StoreKeyFile.name, to: StoreKeyFile.newName)
            case .replacement: try? directory.move(StoreKeyFile.oldName, to: StoreKeyFile.name)
            }
            throw error
        }
        try directory.synchronize()
    }
}
