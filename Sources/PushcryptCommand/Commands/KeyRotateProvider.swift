internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The rotation of a provider's signing key.
struct ProviderRotation: Sendable {
    /// The names of the options that were given.
    let given: [String]

    init(_ arguments: inout Arguments) {
        given = []
    }

    func run(_ key: RotatedKey, _ console: Console) throws(CommandFailure) -> ExitCode {
        let rotation = try withStoreErrors { () throws(KeyStoreError) in
            try key.store.rotateProviderKey(
                named: key.name, ifOlderThan: key.minimumAge, overlap: RotationStatement.standardOverlap, announceFor: SQLiteKeyStore.standardAnnouncement, force: false,
                clock: key.clock, at: console.timestamp
            ) { old, end in }
        }
        guard let rotation else {
            let record = try withStoreErrors { () throws(KeyStoreError) in try key.store.providerKey(named: key.name).record }
            console.hintYoung(record.createdAt)
            return .done
        }
        try console.write((key.isJSON ? announcementText(rotation.record, key.store) : "\(rotation.record.publicKey)") + "\n")
        return .done
    }
}
