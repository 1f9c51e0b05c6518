internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The kinds of names in a key store.
enum StoredName: String, Sendable {
    case device, user, ownKey, deviceKey, providerKey, pinnedProvider

    /// The names in the store of the command line that is completed.
    fileprivate var source: NameSource {
        NameSource(rawValue) { request in
            let given: String?
            switch request.value(Arguments.storeOption) {
            case .unknown: return []
            case .text(let path): given = path
            case nil: given = nil
            }
            guard let path = request.console.storePath(given: given) else { return [] }
            return request.console.storedNames(self, startingWith: request.start, inStoreAt: path)
        }
    }
}

extension ValueKind {
    /// A name in the key store; any text is accepted.
    static func name(_ stored: StoredName) -> ValueKind { .name(stored.source) }
}

extension Console {
    /// The most names that are listed: a store may have millions.
    static let maximumNames = 200

    /// Returns the names in a store that begin so, in order; none if the store is busy or needs a passphrase.
    func storedNames(_ kind: StoredName, startingWith start: String, inStoreAt path: String) -> [String] {
        do throws(KeyStoreError) {
            var options = StoreOptions()
            // The user waits at the prompt.
            options.busyTimeout = 100
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: options)
            return try store.names(kind, startingWith: start, count: Self.maximumNames).filter {
                // A name with control characters can only be typed.
                sanitized(forTerminal: $0) == $0
            }
        } catch {
            return []
        }
    }
}

extension SQLiteKeyStore {
    fileprivate func names(
        _ kind: StoredName, startingWith start: String, count: Int
    ) throws(KeyStoreError) -> [String] {
        switch kind {
        case .device: try deviceIDs(startingWith: start, count: count)
        case .user: try users(startingWith: start, count: count)
        case .ownKey:
            unique(
                try namesWithKeys() + providerKeys().map(\.name)
                    + (pushKey() == nil ? [] : [PushKeyRecord.name]))
        case .deviceKey: try namesWithKeys().sorted()
        case .providerKey: unique(try providerKeys().map(\.name))
        case .pinnedProvider: unique(try state().accounts.flatMap(\.pins).map(\.key.description))
        }
    }

    /// The accounts that have device keys.
    func namesWithKeys() throws(KeyStoreError) -> [String] {
        try state().accounts.filter { !$0.keys.isEmpty }.map(\.name)
    }

    /// Removes repetitions.
    private func unique(_ names: [String]) -> [String] { Set(names).sorted() }
}
