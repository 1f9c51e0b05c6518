internal import Pushcrypt

/// The place where a device's state is stored as a whole: the Keychain, an ``SQLiteKeyStore``, or memory.
///
/// A change replaces the state that it was made from, or nothing: two processes never undo each other's changes. Every call
/// may throw `corruptStore`, `newerVersion`, `storeBusy` and `inputOutput`, and, depending on the store, `diskFull`, or
/// `storeLocked` and `missingEntitlement`.
public protocol DeviceStore: Sendable {
    /// Returns the state, and the revision that it has until it is replaced: random bytes, because a counter could repeat after
    /// a restore. Returns nil if none was ever stored here, or it was lost in a restore. A failure is no reason to make a key.
    func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)?

    /// Stores a state in place of the one with this revision; nil if there is none.
    ///
    /// - Returns: Whether it is stored; not if another process was faster.
    func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool

    /// Deletes the state, also a damaged one.
    func discard() throws(KeyStoreError)
}

extension DeviceStore {
    /// Returns the state; an empty one if none was ever stored.
    public func state() throws(KeyStoreError) -> DeviceState { try load()?.state ?? DeviceState() }

    /// Changes the state in one step; if `body` throws, nothing has changed. Nothing is written if nothing changes.
    ///
    /// - Parameter body: Called again if another process has changed the state meanwhile.
    /// - Throws: What `body` throws; `storeBusy` after 20 attempts.
    @discardableResult
    public func change<R>(
        _ body: (inout DeviceState) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        for _ in 0..<20 {
            let found = try load()
            var state = found?.state ?? DeviceState()
            let result = try body(&state)
            if state == found?.state ?? DeviceState() { return result }
            if try compareAndSwap(state, replacing: found?.revision) { return result }
        }
        throw KeyStoreError(.storeBusy, "other processes keep changing the device's keys: try again")
    }
}

extension KeyStoreError {
    /// The error for a device without a state.
    package static var noDeviceState: KeyStoreError {
        KeyStoreError(
            .storeMissing,
            "there are no device keys here: the app makes one and registers it, also after a restore to another phone, which does not include the old ones"
        )
    }
}

/// The length of a revision.
let revisionLength = 16

/// A device's state in memory, for tests, and for what must leave no trace.
public final class MemoryDeviceStore: DeviceStore {
    private let content: Locked<(state: DeviceState, revision: Bytes)?>

    /// Creates a store with a state; nil for none.
    public init(_ state: DeviceState? = nil) {
        content = Locked(state.map { ($0, Sodium.randomBytes(revisionLength)) })
    }

    /// Returns the state and its revision.
    public func load() -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        content.withLock { $0 }
    }

    /// Stores a state in place of the one with this revision.
    public func compareAndSwap(_ state: DeviceState, replacing revision: ContiguousArray<UInt8>?) -> Bool {
        content.withLock { content in
            guard revision == content?.revision else { return false }
            content = (state, Sodium.randomBytes(revisionLength))
            return true
        }
    }

    /// Deletes the state.
    public func discard() { content.withLock { $0 = nil } }
}

extension DeviceState: SealedState {
    static let row = "device"

    func check() throws(KeyStoreError) -> Int {
        for account in accounts {
            for key in account.keys where key.publicKey.suite.isSupported { _ = try key.deviceKey() }
            _ = try account.updateKey?.signingKey()
        }
        return accounts.reduce(0) { $0 + $1.keys.count }
    }
}

// A device's state in a sealed row.
extension SQLiteKeyStore: DeviceStore {
    /// Returns the state and its revision.
    public func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        try readOnce { (store) throws(KeyStoreError) in try store.load(states.device) }
    }

    /// Stores a state in place of the one with this revision. A secret that is not in it any more leaves the store's files with
    /// it, or, while another process reads, stays sealed in the log until a later change. Blocks that the disk keeps are out of
    /// reach.
    public func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool {
        try write { (store) throws(KeyStoreError) in
            let present: (state: DeviceState, revision: Bytes)? = try store.load(states.device)
            guard present?.revision == revision else { return false }
            try store.replace(present?.state, with: state)
            return true
        }
    }

    /// Deletes the state.
    public func discard() throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            _ = try store.connection.rows("DELETE FROM states WHERE name = ?", [.text(DeviceState.row)])
            store.memory.hasLostSecrets = true
        }
    }

    /// Empties the log, in which a deleted secret may still be, sealed.
    package func eraseDeleted() throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
    }
}
