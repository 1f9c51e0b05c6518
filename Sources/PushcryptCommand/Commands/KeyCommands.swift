internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(
        group: "key", "this store's own keys: a provider's, which signs, and a device's, which opens"
    ) {
        CommandGroup(
            discussion: [
                "A NAME is that of the key in the store; without it, the default key is meant. --kind says which, if the store has keys of both kinds. The push key, of which a store has one, is named push.",
                "Never share a key between protocols: what one produces may be accepted by the other.",
            ],
            commands: [
                keyNew,
                Command("show", "print the public key, or the record for the other side", KeyShowCommand.self),
                Command("list", "list the keys of the store", KeyListCommand.self),
                Command("rotate", "change a key without losing a notification in flight", KeyRotateCommand.self),
                Command("certify", "certify a signing key, where the provider key is", KeyCertifyCommand.self),
                Command("offline", "move a provider key out of the store", KeyOfflineCommand.self),
                Command("default", "choose the key that is used without a name", KeyDefaultCommand.self),
                Command("remove", "destroy a key, and what it was for", KeyRemoveCommand.self),
                Command(
                    "export", "write a key, also the secret one, for a backup or another program", KeyExportCommand.self
                ),
                Command(
                    "import", "take over a secret key from a file of this or another program", KeyImportCommand.self),
            ])
    }

    private static let keyNew = Command(group: "new", "create a key") {
        CommandGroup(
            commands: [
                Command("device", "create a device's key, which opens", KeyNewDeviceCommand.self),
                Command("provider", "create a provider's key, which phones trust", KeyNewProviderCommand.self),
                Command("push", "create the push key, which signs requests to a relay", KeyNewPushCommand.self),
            ])
    }
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
        name = arguments.optionalOperand(
            "NAME", help: "the key's name in the store; default the default key")
        kind = arguments.keyKind()
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
