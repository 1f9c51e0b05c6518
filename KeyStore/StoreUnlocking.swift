internal import Pushcrypt

extension SQLiteKeyStore {
    /// Gets the store's key, and checks it before anything else is trusted.
    ///
    /// - Parameter subject: The store in errors.
    static func unlock(
        _ connection: SQLiteConnection, _ subject: @autoclosure () -> String, _ key: StoreKeySource,
        _ passphrase: StorePassphrase?
    ) throws(KeyStoreError) -> StoreKeys {
        try checkKind(of: connection)
        let header = try unverifiedHeader(connection)
        let keys = try derivedKeys(header, subject, key, passphrase)
        guard Sodium.areEqual(keys.check.span, header.keyCheck.span) else {
            throw KeyStoreError(
                .wrongPassphrase,
                header.derivation == nil
                    ? "\(key.path) is not the key of \(connection.name): restore the one created with it"
                    : "wrong passphrase for \(connection.name): try again")
        }
        try verifyHeader(connection, keys)
        return keys
    }

    /// Refuses a database that is not a key store, or one with another layout.
    static func checkKind(of connection: SQLiteConnection) throws(KeyStoreError) {
        let version = try Schema.version(of: connection)
        guard try connection.integer("PRAGMA application_id") == Schema.applicationID, version > 0 else {
            throw KeyStoreError(.corruptStore, "\(connection.name) is not a key store: restore it from a backup")
        }
        guard version <= Schema.version else {
            throw KeyStoreError(
                .newerVersion,
                "\(connection.name) was written by a newer version (\(version)) than this one reads: upgrade pushcrypt")
        }
        guard version == Schema.version else {
            throw KeyStoreError(
                .olderVersion,
                "\(connection.name) was written by a version before 1.0, with layout \(version) instead of \(Schema.version): create a new store, and register the devices again"
            )
        }
        try connection.require(Schema.declarations)
    }

    static func unverifiedHeader(_ connection: SQLiteConnection) throws(KeyStoreError) -> StoreHeader {
        let header = try connection.firstRow(StoreHeader.table.selectByKey, [.integer(StoreHeader.id)]) {
            (row) throws(KeyStoreError) in
            var columns = ColumnReader(row, of: StoreHeader.table)
            return try StoreHeader(&columns)
        }
        guard let header else {
            throw KeyStoreError(.corruptStore, "\(connection.name) has no header: restore it from a backup")
        }
        return header
    }

    static func verifyHeader(_ connection: SQLiteConnection, _ keys: StoreKeys) throws(KeyStoreError) {
        let verified: StoreHeader? = try StoreTransaction(connection: connection, keys: keys)
            .row(key: .integer(StoreHeader.id))
        guard verified != nil else {
            throw KeyStoreError(.corruptStore, "\(connection.name) has no header: restore it from a backup")
        }
    }

    private static func derivedKeys(
        _ header: StoreHeader, _ subject: () -> String, _ source: StoreKeySource, _ passphrase: StorePassphrase?
    ) throws(KeyStoreError) -> StoreKeys {
        switch (header.derivation, passphrase) {
        case (let derivation?, let passphrase?):
            return StoreKeys(storeKey: try derivation.storeKey(from: passphrase), storeID: header.storeID)
        case (_?, nil):
            throw KeyStoreError(.passphraseNeeded, "\(subject()) needs a passphrase")
        case (nil, nil):
            return StoreKeys(storeKey: try source.read(), storeID: header.storeID)
        case (nil, _?):
            // A caller that expects a passphrase must not get another store instead.
            throw KeyStoreError(
                .wrongPassphrase, "\(subject()) has no passphrase: open it without one if it is yours")
        }
    }
}
