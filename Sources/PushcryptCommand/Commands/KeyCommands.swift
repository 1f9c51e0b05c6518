internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(
        group: "key", "this store's own keys: a provider's, which signs, and a device's, which opens",
        about: [
            "A NAME is that of the key in the store; without it, the default key is meant. --kind says which, if the store has keys of both kinds. The push key, of which a store has one, is named push.",
            "Never share a key between protocols: what one produces may be accepted by the other.",
        ],
        [
            keyNew, .keyShow, .keyList, .keyRotate, .keyCertify, .keyOffline, .keyDefault, .keyRemove, .keyExport,
            .keyImport,
        ])

    private static let keyNew = Command(
        group: "new", "create a key",
        [.keyNewDevice, .keyNewProvider, .keyNewPush])
}

/// The owner of a key.
enum KeyKind: String, CaseIterable, Sendable {
    case device, provider, push

    /// The curve of its keys in the formats of other programs.
    var curve: KeyCurve {
        switch self {
        case .device: .x25519
        case .provider, .push: .ed25519
        }
    }
}

extension Arguments {
    mutating func keyKind() -> KeyKind? {
        choice(
            "--kind", "KIND", help: "what the key is for, if the store has several kinds, or the format does not say it"
        )
    }
}

/// `[NAME]` and `--kind`: one of the store's own keys.
struct OwnKeyArguments: Sendable {
    let name: String?
    let kind: KeyKind?

    init(_ arguments: inout Arguments) {
        kind = arguments.keyKind()
        name = arguments.optionalOperand("NAME", help: "the key's name in the store; default the default key")
    }

    init(name: String?, kind: KeyKind?) { (self.name, self.kind) = (name, kind) }

    /// Whether the key is a device's or a provider's.
    func kind(in store: SQLiteKeyStore) throws -> KeyKind {
        if let kind { return kind }
        let kinds = try store.kinds(ofKeysNamed: name)
        if let kind = kinds.first, kinds.count == 1 { return kind }
        // The push key has no other name.
        if kinds.isEmpty, name == nil || name == PushKeyRecord.name,
            try store.hasPushKey()
        {
            return .push
        }
        let named = name.map { " \(quoted($0))" } ?? ""
        guard kinds.isEmpty else {
            throw Failure.usage(
                "the store has a device key\(named) and a provider key\(named)",
                hint: "say which with --kind device or --kind provider")
        }
        throw Failure(KeyStoreError(.unknownName, "the store has no key\(named)"))
    }
}

extension SQLiteKeyStore {
    /// The kinds of keys that have this name, or any.
    fileprivate func kinds(ofKeysNamed name: String?) throws -> [KeyKind] {
        let isDevice = try isKey(name) { () throws(KeyStoreError) in try namesWithKeys() }
        let isProvider = try isKey(name) { () throws(KeyStoreError) in try providerKeys().map(\.name) }
        return (isDevice ? [.device] : []) + (isProvider ? [.provider] : [])
    }

    /// A damaged row may be of any name: the other keys are found all the same.
    private func isKey(
        _ name: String?, in names: () throws(KeyStoreError) -> [String]
    ) throws -> Bool {
        do throws(KeyStoreError) {
            let names = try names()
            return name.map(names.contains) ?? !names.isEmpty
        } catch {
            guard error.concernsOneRow else { throw Failure(error) }
            return true
        }
    }
}
