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

    /// The push keys of the store, for as long as the command runs: the present one, then the one before or after it.
    package func pushKeys(_ console: Console) throws -> () -> [PushKey] {
        try Self.pushKeys(of: try console.open(store), console)
    }

    /// Returns a function that reads the keys; if it cannot, those that it read last.
    static func pushKeys(of store: SQLiteKeyStore, _ console: Console) throws -> () -> [PushKey] {
        func read() throws(KeyStoreError) -> [PushKey] {
            let keys = try store.pushSecrets(at: console.timestamp)
            // The next one too: another machine's clock may be ahead.
            return [keys.current] + [keys.previous ?? keys.next].compactMap(\.self)
        }
        var last: [PushKey]
        do throws(KeyStoreError) { last = try read() } catch {
            throw Failure(error, hint: error.code == .unknownName ? "pushcrypt key new push makes one" : nil)
        }
        return {
            if let keys = try? read() { last = keys }
            return last
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
