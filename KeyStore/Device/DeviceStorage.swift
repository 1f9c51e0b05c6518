internal import Pushcrypt

/// The device's part of a key store inside one transaction: tables of SQLite, or what a Keychain item holds.
///
/// What implements it gives rows. The rules of keys and trust, which are extensions of this protocol, are the same for
/// every store.
protocol DeviceStorage {
    associatedtype KeyRow: DeviceKeyEntry
    associatedtype Names: KeyNames

    var deviceNames: Names { get }

    // MARK: Device keys

    /// Every row, by the bytes of its name, oldest generation first.
    func deviceKeyRows() throws(KeyStoreError) -> [KeyRow]
    /// The rows of a name, oldest generation first.
    func deviceKeyRows(_ name: String) throws(KeyStoreError) -> [KeyRow]
    func deviceKeyRow(id: KeyID) throws(KeyStoreError) -> KeyRow?
    func secret(of row: KeyRow) throws(KeyStoreError) -> DeviceKey

    /// Puts in a key whose name, generation and id the caller has checked.
    func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, generation: UInt64, state: DeviceKeyRecord.State,
        at now: Timestamp
    ) throws(KeyStoreError) -> KeyRow
    func move(
        _ row: KeyRow, to state: DeviceKeyRecord.State, retiresAt: Timestamp?
    ) throws(KeyStoreError) -> KeyRow
    func delete(_ row: KeyRow) throws(KeyStoreError)

    // MARK: Trusted senders

    /// Every row, oldest first.
    func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRow]
    /// A number that no row has, above all others.
    func newSenderNumber() throws(KeyStoreError) -> Int64
    /// Puts in a row, in the place of the one with its number.
    func put(_ row: TrustedSenderRow) throws(KeyStoreError)
    func delete(_ row: TrustedSenderRow) throws(KeyStoreError)
}

/// What the rules know of a device key: all but its secret.
protocol DeviceKeyEntry {
    var name: String { get }
    var topic: Topic? { get }
    var publicKey: DevicePublicKey { get }
    var generation: UInt64 { get }
    var state: DeviceKeyRecord.State { get }
    var createdAt: Timestamp { get }
    /// Set for a key that retires, and for no other.
    var retiresAt: Timestamp? { get }
}

extension DeviceKeyEntry {
    /// A retiring key opens up to its end date and no longer; the others open always.
    func opens(at now: Timestamp) -> Bool { retiresAt.map { now <= $0 } ?? true }

    func record(defaultName: String?) -> DeviceKeyRecord {
        DeviceKeyRecord(
            name: name, topic: topic, publicKey: publicKey, keyID: publicKey.id, generation: generation, state: state,
            createdAt: createdAt, retiresAt: retiresAt,
            isDefault: defaultName.map { StoreName.areEqual($0, name) } ?? false)
    }
}
