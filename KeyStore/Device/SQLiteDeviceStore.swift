internal import Pushcrypt

extension DeviceState: SealedState {
    static let row = "device"
}

// A device's state in a sealed row.
extension SQLiteKeyStore: DeviceStore {
    /// Returns the state and its revision.
    public func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        try readOnce { (store) throws(KeyStoreError) in try store.load(states.device) }
    }

    /// Stores a state in place of the one with this revision. If a secret is not in it any more, it is in none of the store's
    /// files when this returns, not even sealed; what the disk keeps of overwritten blocks is out of reach.
    ///
    /// - Throws: `storeBusy` also if the state is stored, but another process is still reading the previous one, whose
    ///   sealed bytes then stay in the write-ahead log until the last process closes the store.
    public func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool {
        let stored = try write { (store) throws(KeyStoreError) -> (revision: Bytes, lost: [Secret])? in
            let present: (state: DeviceState, revision: Bytes)? = try store.load(states.device)
            guard present?.revision == revision else { return nil }
            let kept = state.secrets
            return (try store.store(state), present?.state.secrets.filter { !kept.contains($0) } ?? [])
        }
        guard let (new, lost) = stored else { return false }
        // The secrets of a value share their memory: one that was lost goes with the others.
        states.device.withLock { ($0.revision, $0.state) = lost.isEmpty ? (new, state) : ([], nil) }
        if !lost.isEmpty { try eraseDeleted() }
        return true
    }

    /// Deletes the state.
    public func discard() throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            _ = try store.connection.rows("DELETE FROM states WHERE name = ?", [.text(DeviceState.row)])
        }
        states.device.withLock { $0.forget() }
        try eraseDeleted()
    }

    /// Empties the log, in which a deleted secret may still be, sealed.
    package func eraseDeleted() throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
    }

    /// Checks the sealed row, and each secret against its public key; returns the number of keys.
    func checkDeviceState() throws(KeyStoreError) -> Int? {
        let found: (state: DeviceState, revision: Bytes)? = try readOnce { (store) throws(KeyStoreError) in
            try store.load()
        }
        guard let state = found?.state else { return nil }
        for account in state.accounts {
            for key in account.keys where key.publicKey.suite.isSupported { _ = try key.deviceKey() }
            _ = try account.updateKey?.signingKey()
        }
        return state.accounts.reduce(0) { $0 + $1.keys.count }
    }
}
