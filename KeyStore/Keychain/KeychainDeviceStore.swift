package import Pushcrypt

/// A device's state in the Keychain of an Apple system, for an app and its extensions.
///
/// It is one item: accessible after the first unlock, on this device only, in an access group that the app and its
/// extensions share; not synchronised. Its name is the app's bundle id, so that no other app of the group reaches it. A
/// change is one call to the Keychain: it happens or it does not. Secrets are copied into guarded memory at once; the
/// copies made by the system are out of reach.
///
/// The item outlives the app's removal; `PushAccounts` finds out. A backup does not move it to another device.
public final class KeychainDeviceStore: DeviceStore {
    private static let service = "pushcrypt"

    private let items: any SecItems
    private let accessGroup: String
    private let topic: Topic

    package init(items: any SecItems, accessGroup: String, topic: Topic) {
        self.items = items
        self.accessGroup = accessGroup
        self.topic = topic
    }

    /// Identifies exactly one item: without the access group, a query would match any group of the process.
    private func query(_ more: KeychainQuery = [:]) -> KeychainQuery {
        let name: KeychainQuery = [
            .itemClass: .genericPassword, .service: .text(Self.service), .account: .text(topic.bundleID),
            .accessGroup: .text(accessGroup), .isSynchronizable: .flag(false), .usesDataProtection: .flag(true),
        ]
        return name.merging(more) { _, more in more }
    }

    /// Returns the state and its revision.
    public func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        let (status, data) = items.copyMatching(query([.returnsData: .flag(true), .matchLimit: .one]))
        guard status != KeychainStatus.notFound else { return nil }
        guard status == KeychainStatus.success else { throw failure(status, "read") }
        guard let data else { throw .damagedState }
        return try data.withSpan { (data) throws(KeyStoreError) in
            guard data.count >= revisionLength else { throw .damagedState }
            let state = try DeviceState(parsing: data.extracting(revisionLength..<data.count))
            return (state, Bytes(copying: data.extracting(0..<revisionLength)))
        }
    }

    /// Adds the item, or replaces the one that has this revision, which is an attribute of it too: a query cannot match data.
    public func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool {
        let new = Sodium.randomBytes(revisionLength)
        let values: KeychainQuery = [
            .generic: .bytes(new), .data: .secret(KeychainSecret(state.form.bytes(after: new))),
        ]
        let (status, refusal) =
            if let revision {
                (items.update(query([.generic: .bytes(revision)]), values), KeychainStatus.notFound)
            } else {
                (
                    items.add(query(values.merging([.accessible: .afterFirstUnlockThisDeviceOnly]) { $1 })),
                    KeychainStatus.duplicate
                )
            }
        guard status != refusal else { return false }
        guard status == KeychainStatus.success else { throw failure(status, "write") }
        return true
    }

    /// Deletes the item.
    public func discard() throws(KeyStoreError) {
        let status = items.delete(query())
        guard status == KeychainStatus.success || status == KeychainStatus.notFound else {
            throw failure(status, "delete")
        }
    }

    private func failure(_ status: Int32, _ verb: StaticString) -> KeyStoreError {
        switch status {
        case KeychainStatus.locked:
            KeyStoreError(
                .storeLocked,
                "the device has not been unlocked since it started: its keys are available after the first unlock")
        case KeychainStatus.missingEntitlement:
            KeyStoreError(
                .missingEntitlement,
                "this process may not use the Keychain access group \(accessGroup): add it to the Keychain Sharing capability of both targets, the app and the extension"
            )
        default:
            KeyStoreError(.inputOutput, "cannot \(verb) the device's keys: the Keychain returned status \(status)")
        }
    }
}
