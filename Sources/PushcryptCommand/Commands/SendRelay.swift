package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

// A publisher's relay, and how a server shows it who it is.

extension SendArguments {
    static let relayOption = "--relay"

    /// Reads the origin of a relay.
    package static func origin(_ text: String) throws -> RelayOrigin {
        guard let origin = RelayOrigin(text) else {
            throw Failure.usage(
                "\(relayOption) cannot be \(quoted(text))",
                hint:
                    "write its origin as the publisher does, such as https://push.example.com; http only in a private network"
            )
        }
        return origin
    }

    /// The push key of the store, and the one before it.
    package func pushKeys(_ console: Console) throws -> [PushKey] {
        try Self.pushKeys(of: try console.open(store), console)
    }

    static func pushKeys(of store: SQLiteKeyStore, _ console: Console) throws -> [PushKey] {
        do throws(KeyStoreError) {
            let keys = try store.pushSecrets(at: console.timestamp)
            return [keys.current] + [keys.previous].compactMap(\.self)
        } catch {
            throw Failure(error, hint: error.code == .unknownName ? "pushcrypt key new push makes one" : nil)
        }
    }

    /// The relay that the store's settings name, for a command line that says nothing else.
    func storedRelay(_ console: Console) throws -> String? {
        guard login.key == nil, login.certificate == nil, console.storePath(given: store.path) != nil
        else { return nil }
        let settings: SQLiteKeyStore
        do {
            settings = try console.open(store)
        } catch {
            let error = Failure(error)
            guard !store.isGiven, (error.cause as? KeyStoreError)?.code == .storeMissing else { throw error }
            return nil
        }
        return try settings.setting(.relay)
    }
}
