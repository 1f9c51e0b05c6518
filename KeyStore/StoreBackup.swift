package import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// Backups: one file without a log, made while the store is in use, and put in its place again.
extension SQLiteKeyStore {
    /// The name of the setting with the time at which the store was restored.
    static let restoredSetting = "store.restored"

    /// Writes the database as it is now to a new file, and checks every row of it.
    ///
    /// The secrets in it are sealed: without `store.key`, or the passphrase, it opens nothing.
    ///
    /// - Throws: `storeExists` if there is such a file; `corruptStore` if the store or the copy is damaged.
    package func backUp(to path: String) throws(KeyStoreError) {
        let name = path + ".new"
        try Self.removeBackup(name)
        guard try FileFacts(at: path) == nil else {
            throw KeyStoreError(.storeExists, "\(path) exists already: name another file")
        }
        do throws(KeyStoreError) {
            _ = try Descriptor(name, O_WRONLY | O_CREAT | O_EXCL, mode: UnsafeFile.fileMode)
            do {
                let copy = try SQLiteConnection(path: name, busyTimeout: options.busyTimeout)
                try withConnection { (connection) throws(KeyStoreError) in try copy.receiveCopy(of: connection) }
                try copy.leaveLog()
                try checkRows(of: copy)
            }
            try Descriptor(name, O_RDONLY).synchronize()
            guard unsafe link(name, path) == 0 else { throw .system(errno, "write \(path)") }
            try Self.synchronizeParent(of: path)
        } catch {
            try? Self.removeBackup(name)
            throw error
        }
        try Self.removeBackup(name)
    }

    /// Copies `store.key`, which opens the backups of a store without a passphrase, to a new file.
    package func backUpKey(to path: String) throws(KeyStoreError) {
        guard let directory, try directory.has(StoreKeyFile.name) else {
            throw KeyStoreError(
                .storeKeyMissing, "this store has no \(StoreKeyFile.name): its passphrase opens the backup")
        }
        let key = try StoreKeyFile.read(in: directory)
        guard try FileFacts(at: path) == nil else {
            throw KeyStoreError(.storeExists, "\(path) exists already: name another file")
        }
        let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: UnsafeFile.fileMode)
        try key.withSpan { (key) throws(KeyStoreError) in try file.write(key) }
        try Self.synchronizeParent(of: path)
    }

    private static func synchronizeParent(of path: String) throws(KeyStoreError) {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./"
        try Descriptor(parent + ".", O_RDONLY | O_DIRECTORY).synchronize()
    }

    private static func removeBackup(_ name: String) throws(KeyStoreError) {
        for file in ["", "-wal", "-shm", "-journal"].map({ name + $0 }) {
            guard unsafe unlink(file) == 0 || errno == ENOENT else { throw .system(errno, "remove \(file)") }
        }
    }

    /// Throws the first error in a copy of this store.
    private func checkRows(of copy: SQLiteConnection) throws(KeyStoreError) {
        let store = SQLiteKeyStore(copy, nil, keys, nil, options)
        guard let problem = store.check().first(where: { $0.severity == .error }) else { return }
        throw KeyStoreError(.corruptStore, "the copy is damaged: \(problem.message)")
    }

    // MARK: Restoring

    /// Makes a backup the database of a store, which is created if there is none. No process may have the store open.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - directory: The directory of the store.
    ///   - key: The copy of `store.key` that opens it; nil to use the one in the directory.
    ///   - passphrase: The passphrase of the backup, if it has one.
    ///   - replace: Whether to replace a store that has rotated since, is another one, or cannot be read.
    /// - Throws: `storeExists` for a store that only `replace` replaces; `storeBusy` while another process has it open; the
    ///   errors of opening the backup. The store has not changed then.
    package static func restore(
        _ path: String, to directory: String, key: String?, passphrase: StorePassphrase?, replace: Bool,
        options: StoreOptions = StoreOptions(), at now: Timestamp
    ) throws(KeyStoreError) {
        let directory = try StoreDirectory(making: directory)
        try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
            for name in newFiles { try directory.removeIfPresent(name) }
            do throws(KeyStoreError) {
                try restore(path, to: directory, key, passphrase, replace, options, now)
            } catch {
                for name in newFiles { try? directory.removeIfPresent(name) }
                throw error
            }
        }
    }

    private static let newFiles: [StaticString] = [
        newDatabaseName, "keystore.db.new-wal", "keystore.db.new-shm", "keystore.db.new-journal", StoreKeyFile.newName,
    ]

    private static func restore(
        _ path: String, to directory: StoreDirectory, _ key: String?, _ passphrase: StorePassphrase?, _ replace: Bool,
        _ options: StoreOptions, _ now: Timestamp
    ) throws(KeyStoreError) {
        try copy(path, to: directory.create(newDatabaseName))
        if let key { try copy(key, to: directory.create(StoreKeyFile.newName)) }
        do {
            let connection = try connect(directory.file(newDatabaseName), options)
            let keys = try unlock(
                connection, in: directory, key == nil ? StoreKeyFile.name : StoreKeyFile.newName, passphrase, options)
            let store = SQLiteKeyStore(connection, nil, keys, nil, options)
            if let problem = store.check().first(where: { $0.severity == .error }) {
                throw KeyStoreError(.corruptStore, "\(path) is damaged: \(problem.message)")
            }
            if !replace {
                if key != nil { try refuseToReplaceKey(in: directory) }
                try store.refuseToReplace(directory, passphrase, options)
            }
            try store.write { (store) throws(KeyStoreError) in
                try store.setSetting("\(now.milliseconds)", named: restoredSetting)
            }
            try connection.useLog()
        }
        let old = try lockedOut(directory, options, replace)
        // Its log was copied into it: SQLite would apply it to the new database.
        for name in logFiles { try directory.removeIfPresent(name) }
        if key != nil { try directory.rename(StoreKeyFile.newName, to: StoreKeyFile.name) }
        try directory.rename(newDatabaseName, to: databaseName)
        withExtendedLifetime(old) {}
    }

    private static func copy(_ path: String, to new: borrowing Descriptor) throws(KeyStoreError) {
        if let log = try FileFacts(at: path + "-wal"), log.size > 0 {
            throw KeyStoreError(
                .corruptStore,
                "\(path) has a log beside it, so it was copied while in use: make a backup with pushcrypt")
        }
        guard try FileFacts(at: path) != nil else {
            throw KeyStoreError(.inputOutput, "cannot read \(path): there is no such file")
        }
        let file = try Descriptor(path, O_RDONLY)
        var piece = Bytes(repeating: 0, count: 1 << 16)
        while true {
            let count = try unsafe piece.withUnsafeMutableBufferPointer { (buffer) throws(KeyStoreError) in
                var output = unsafe MutableBytes(buffer)
                return try file.read(into: &output)
            }
            try new.write(piece.span.extracting(0..<count))
            if count < piece.count { return }
        }
    }

    /// Refuses to replace another `store.key`: it may be the only one that opens a database stored elsewhere.
    private static func refuseToReplaceKey(in directory: StoreDirectory) throws(KeyStoreError) {
        guard try directory.has(StoreKeyFile.name) else { return }
        let old = try StoreKeyFile.read(in: directory)
        let new = try StoreKeyFile.read(in: directory, named: StoreKeyFile.newName)
        guard old.withSpan({ old in new.withSpan { Sodium.areEqual(old, $0) } }) else {
            throw KeyStoreError(
                .storeExists, "\(directory.file(StoreKeyFile.name)) is another key than the backup's: it is kept")
        }
    }

    /// Refuses to replace a store that knows what the backup does not: this one.
    private func refuseToReplace(
        _ directory: StoreDirectory, _ passphrase: StorePassphrase?, _ options: StoreOptions
    ) throws(KeyStoreError) {
        guard try directory.has(Self.databaseName) else { return }
        let old: SQLiteKeyStore
        do throws(KeyStoreError) {
            old = try Self.open(in: directory.path, passphrase: passphrase, options: options)
        } catch {
            guard error.code == .corruptStore || error.code == .wrongPassphrase || error.code == .storeKeyMissing else {
                throw error
            }
            throw KeyStoreError(
                .storeExists, "the store at \(directory.path) cannot be compared with the backup (\(error)): it is kept"
            )
        }
        guard old.keys.storeID == keys.storeID else {
            throw KeyStoreError(.storeExists, "\(directory.path) holds another store than the backup: it is kept")
        }
        let (mine, theirs) = (try senderKeys(), try old.senderKeys())
        for key in theirs {
            let saved = mine.first { StoreName.areEqual($0.name, key.name) }
            guard saved?.publicKey != key.publicKey, saved.map({ $0.generation <= key.generation }) ?? true else {
                continue
            }
            throw KeyStoreError(
                .storeExists,
                "the store at \(directory.path) has rotated the sender key '\(key.name)' since the backup: phones that follow the new key would not open what the old one signs"
            )
        }
    }

    /// Returns a connection that has locked all others out of the present database, with its log copied into it; nil if there
    /// is none, or none that can be read.
    private static func lockedOut(
        _ directory: StoreDirectory, _ options: StoreOptions, _ replace: Bool
    ) throws(KeyStoreError) -> SQLiteConnection? {
        guard try directory.has(databaseName) else { return nil }
        var waited: Int32 = 0
        while true {
            do throws(KeyStoreError) {
                let old = try SQLiteConnection(aloneAt: directory.file(databaseName))
                _ = try Schema.version(of: old)
                try old.emptyLog()
                return old
            } catch {
                if error.code == .corruptStore, replace { return nil }
                guard error.code == .storeBusy, waited < options.busyTimeout else {
                    throw error.code == .storeBusy
                        ? KeyStoreError(
                            .storeBusy,
                            "another process has the store at \(directory.path) open: stop it, and try again")
                        : error
                }
                var pause = timespec(tv_sec: 0, tv_nsec: 50_000_000)
                unsafe nanosleep(&pause, nil)
                waited += 50
            }
        }
    }

    /// Returns when the store was restored from a backup, if it was.
    package func restoredAt() throws(KeyStoreError) -> Timestamp? {
        try read { (store) throws(KeyStoreError) in
            try store.setting(named: Self.restoredSetting).flatMap(UInt64.init).map(Timestamp.init(milliseconds:))
        }
    }
}

extension SQLiteConnection {
    /// Leaves the write-ahead log, so that the database is one file.
    func leaveLog() throws(KeyStoreError) {
        guard try rows("PRAGMA journal_mode = DELETE").first?.first == .text("delete") else {
            throw KeyStoreError(.inputOutput, "cannot make \(path) one file")
        }
    }
}
