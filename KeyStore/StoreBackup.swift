internal import Pushcrypt

// Backups: one file without a log, made while the store is in use.
extension SQLiteKeyStore {
    /// Writes the database as it is now to a new file, and checks every row of it.
    ///
    /// The secrets in it are sealed: without `store.key`, or the passphrase, it opens nothing. If this throws, neither file
    /// exists.
    ///
    /// - Parameters:
    ///   - path: The new file.
    ///   - keyPath: Another new file, for a copy of `store.key`; nil for none.
    /// - Throws: `storeExists` if there is such a file; `corruptStore` if the store or the copy is damaged;
    ///   `storeKeyMissing` if a passphrase opens the store.
    package func backUp(to path: String, key keyPath: String? = nil) throws(KeyStoreError) {
        var files = [try NewFile(path)]
        if let keyPath {
            let keyFile = try NewFile(keyPath)
            guard keyFile.resolved != files[0].resolved else {
                throw KeyStoreError(
                    .storeExists, "\(keyPath) is the file of the backup: name another one for \(StoreKeyFile.name)")
            }
            guard try directory?.has(StoreKeyFile.name) == true else {
                throw KeyStoreError(
                    .storeKeyMissing, "this store has no \(StoreKeyFile.name): its passphrase opens the backup")
            }
            files.append(keyFile)
        }
        do throws(KeyStoreError) {
            try writeDatabase(to: files[0])
            if files.count > 1 { try writeKey(to: files[1]) }
            for file in files { try file.finish() }
        } catch {
            for file in files { file.discard() }
            throw error
        }
    }

    private func writeDatabase(to file: NewFile) throws(KeyStoreError) {
        _ = try file.create()
        do {
            let copy = try SQLiteKeyStore.connect(file.temporary, named: file.path, options)
            try withConnection { (connection) throws(KeyStoreError) in try copy.receiveCopy(of: connection) }
            try copy.leaveLog()
            let store = SQLiteKeyStore(copy, nil, keys, nil, options)
            try store.requireSound("this store is damaged, and was not copied")
        }
        try Descriptor(reading: file.temporary, named: file.path).synchronize()
    }

    private func writeKey(to file: NewFile) throws(KeyStoreError) {
        guard let directory else { return }
        let key = try StoreKeyFile.read(in: directory)
        let descriptor = try file.create()
        try key.withSpan { (key) throws(KeyStoreError) in try descriptor.write(key) }
    }
}

extension SQLiteConnection {
    /// Leaves the write-ahead log, so that the database is one file.
    func leaveLog() throws(KeyStoreError) {
        guard try rows("PRAGMA journal_mode = DELETE").first?.first == .text("delete") else {
            throw KeyStoreError(.inputOutput, "cannot write \(name) as one file: try again")
        }
    }
}
