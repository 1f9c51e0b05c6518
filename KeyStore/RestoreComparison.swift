internal import Pushcrypt

/// What the present store has that the backup lacks, or has otherwise.
extension Restoration {
    func cannotCompare(_ error: KeyStoreError) -> KeyStoreError {
        KeyStoreError(
            .storeExists, "the store at \(directory.path) cannot be compared with the backup (\(error)): it is kept")
    }

    /// Returns the provider keys of the present store; none if it is another one or cannot be read, which only `replaces`
    /// replaces.
    func providerKeys(
        of old: SQLiteConnection, _ keys: StoreKeys
    ) throws(KeyStoreError) -> [ProviderKeyRecord] {
        do throws(KeyStoreError) {
            try SQLiteKeyStore.checkKind(of: old)
            guard try SQLiteKeyStore.unverifiedHeader(old).storeID == keys.storeID else {
                throw KeyStoreError(.storeExists, "\(directory.path) holds another store than the backup: it is kept")
            }
            // The same store has the same key, whether its file is here or not.
            try SQLiteKeyStore.verifyHeader(old, keys)
            return try SQLiteKeyStore(old, nil, keys, nil, options).providerKeys()
        } catch {
            switch error.code {
            case .storeExists, .corruptStore, .newerVersion, .olderVersion:
                if replaces { return [] }
                throw error.code == .storeExists ? error : cannotCompare(error)
            default: throw error
            }
        }
    }

    /// Refuses to replace a store whose provider keys have gone on since the backup.
    func refuseToReplace(
        _ former: [ProviderKeyRecord], by saved: [ProviderKeyRecord]
    ) throws(KeyStoreError) {
        for key in former {
            guard let saved = saved.first(where: { $0.publicKey == key.publicKey }) else {
                throw KeyStoreError(
                    .storeExists,
                    "the store at \(directory.path) has a provider key '\(key.name)' that the backup lacks: phones that have pinned it would open nothing more"
                )
            }
            guard saved.epoch >= key.epoch else {
                throw KeyStoreError(
                    .storeExists,
                    "the store at \(directory.path) has rotated the signing key of '\(key.name)' since the backup: phones that know the new one would not open what the old one signs, until you rotate again"
                )
            }
            guard saved.isOffline || !key.isOffline else {
                throw KeyStoreError(
                    .storeExists,
                    "the backup still holds the secret of provider key '\(key.name)', which was taken out of the store at \(directory.path)"
                )
            }
        }
    }

    /// Compares the devices of the present store with the backup's; nil for another store, or one that cannot be read, which
    /// only `replaces` replaces.
    func difference(
        from old: SQLiteConnection, _ keys: StoreKeys
    ) throws(KeyStoreError) -> RestoreDifference? {
        let difference: RestoreDifference
        do throws(KeyStoreError) {
            try SQLiteKeyStore.checkKind(of: old)
            guard try SQLiteKeyStore.unverifiedHeader(old).storeID == keys.storeID else { return nil }
            difference = try RestoreDifference(
                from: old, to: SQLiteKeyStore.connect(new, named: path, options), keys)
        } catch {
            guard error.code == .corruptStore || error.code == .newerVersion || error.code == .olderVersion else {
                throw error
            }
            if replaces { return nil }
            throw cannotCompare(error)
        }
        guard replaces || difference.isHarmless else {
            throw KeyStoreError(
                .storeExists,
                "the store at \(directory.path) has changed since the backup: \(difference.text(withRemoved: withRemoved))"
            )
        }
        return difference
    }

    /// Rows of the present store, such as removals; one that is damaged is left out.
    func soundRows<Row: StoredRow>(
        _: Row.Type, in old: SQLiteConnection, _ keys: StoreKeys
    ) throws(KeyStoreError) -> [Row] {
        let store = StoreTransaction(connection: old, keys: keys)
        var rows: [Row] = []
        for id in try old.rows("SELECT \(Row.table.key) FROM \(Row.table.name)") {
            do throws(KeyStoreError) {
                if let row: Row = try store.row(key: id[0]) { rows.append(row) }
            } catch {
                guard error.concernsOneRow else { throw error }
            }
        }
        return rows
    }
}
