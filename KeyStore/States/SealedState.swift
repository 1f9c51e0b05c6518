internal import Pushcrypt

/// A value that a store seals as a whole, in a row of the table `states`.
protocol SealedState: Equatable, Sendable {
    /// The name of the row. It is sealed with the state.
    static var row: String { get }
    init(parsing form: Span<UInt8>) throws(KeyStoreError)
    var form: SecretForm { get }
}

/// The state that was read last: while its revision stands, it is not opened again.
final class StateCache<State: SealedState> {
    var revision: Bytes = []
    var state: State?

    func forget() { (revision, state) = ([], nil) }
}

/// The states that a connection has read.
struct StateCaches: Sendable {
    let device = Locked(StateCache<DeviceState>())
    let provider = Locked(StateCache<ProviderState>())
}

extension StoreTransaction {
    /// Returns a state and its revision; nil if there is none.
    func load<State: SealedState>(
        _ cache: Locked<StateCache<State>>? = nil
    ) throws(KeyStoreError) -> (state: State, revision: Bytes)? {
        let known = cache?.withLock { cache in cache.state.map { ($0, cache.revision) } }
        let rows = try connection.rows(
            "SELECT revision, CASE WHEN revision = ? THEN 0 ELSE sealed END FROM states WHERE name = ?",
            [.blob(known?.1 ?? []), .text(State.row)])
        guard let row = rows.first else { return nil }
        if let known, row[0] == .blob(known.1) { return known }
        guard case .blob(let revision) = row[0], revision.count == revisionLength, case .blob(let sealed) = row[1],
            let form = try? keys.open(sealed, named: State.row, revision)
        else { throw .damagedState(named: State.row) }
        let state: State
        do throws(KeyStoreError) {
            state = try form.withSpan { (form) throws(KeyStoreError) in try State(parsing: form) }
        } catch {
            throw error.code == .corruptStore ? .damagedState(named: State.row) : error
        }
        cache?.withLock { ($0.revision, $0.state) = (revision, state) }
        return (state, revision)
    }

    /// Writes a state; returns its new revision.
    @discardableResult
    func store<State: SealedState>(_ state: State) throws(KeyStoreError) -> Bytes {
        let revision = Sodium.randomBytes(revisionLength)
        let sealed = state.form.bytes().withSpan { keys.seal($0, named: State.row, revision) }
        try connection.rows(
            "INSERT INTO states (name, revision, sealed) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, sealed = excluded.sealed",
            [.text(State.row), .blob(revision), .blob(sealed)])
        return revision
    }
}

extension KeyStoreError {
    static func damagedState(named name: String) -> KeyStoreError {
        KeyStoreError(
            .corruptStore,
            "row '\(name)' of table states is damaged, or was changed without the store key, and is not used: restore a backup"
        )
    }
}
