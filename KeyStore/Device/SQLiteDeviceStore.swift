internal import Pushcrypt

// A device's state in a sealed row.
extension SQLiteKeyStore: DeviceStore {
    private static let row = "device"

    /// Returns the state and its revision.
    public func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        try read { (store) throws(KeyStoreError) in try load(store) }
    }

    private func load(
        _ store: StoreTransaction, usingCache: Bool = true
    ) throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        let rows = try store.connection.rows(
            "SELECT revision, sealed FROM states WHERE name = ?", [.text(Self.row)])
        guard let row = rows.first else { return nil }
        guard case .blob(let revision) = row[0], revision.count == revisionLength, case .blob(let sealed) = row[1]
        else {
            throw .damagedState
        }
        if usingCache, let state = cache.withLock({ $0.revision == revision ? $0.state : nil }) {
            return (state, revision)
        }
        guard let form = try? keys.open(sealed, named: Self.row, revision) else { throw .damagedState }
        let state = try form.withSpan { (form) throws(KeyStoreError) in try DeviceState(parsing: form) }
        cache.withLock { ($0.revision, $0.state) = (revision, state) }
        return (state, revision)
    }

    /// Stores a state in place of the one with this revision. If a secret is not in it any more, it is in none of the store's
    /// files when this returns, not even sealed; what the disk keeps of overwritten blocks is out of reach.
    ///
    /// - Throws: `storeBusy` also if the state is stored, but another process is still reading the previous one, whose
    ///   sealed bytes then stay in the write-ahead log until the last process closes the store.
    public func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool {
        let new = Sodium.randomBytes(revisionLength)
        let sealed = state.form.bytes().withSpan { keys.seal($0, named: Self.row, new) }
        let lost = try write { (store) throws(KeyStoreError) -> [Secret]? in
            let present = try load(store)
            guard present?.revision == revision else { return nil }
            try store.connection.rows(
                "INSERT INTO states (name, revision, sealed) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, sealed = excluded.sealed",
                [.text(Self.row), .blob(new), .blob(sealed)])
            let kept = state.secrets
            return present?.state.secrets.filter { !kept.contains($0) } ?? []
        }
        guard let lost else { return false }
        // The secrets of a value share their memory: one that was lost goes with the others.
        cache.withLock { ($0.revision, $0.state) = lost.isEmpty ? (new, state) : ([], nil) }
        if !lost.isEmpty { try eraseDeleted() }
        return true
    }

    /// Deletes the state.
    public func discard() throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            _ = try store.connection.rows("DELETE FROM states WHERE name = ?", [.text(Self.row)])
        }
        cache.withLock { ($0.revision, $0.state) = ([], nil) }
        try eraseDeleted()
    }

    /// Empties the log, in which a deleted secret may still be, sealed.
    package func eraseDeleted() throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
    }

    /// Checks the sealed row, and each secret against its public key.
    func checkDeviceState() throws(KeyStoreError) -> Int? {
        let found = try read { (store) throws(KeyStoreError) in try load(store, usingCache: false) }
        guard let state = found?.state else { return nil }
        for account in state.accounts {
            for key in account.keys where key.publicKey.suite.isSupported { _ = try key.deviceKey() }
            _ = try account.updateKey?.signingKey()
        }
        return state.accounts.reduce(0) { $0 + $1.keys.count }
    }
}

/// The state that was read or stored last: while its revision stands, it is not opened again.
final class DeviceStateCache {
    var revision: Bytes = []
    var state: DeviceState?
}
