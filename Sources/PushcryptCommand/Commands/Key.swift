internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(
        group: "key", "this store's own keys: a provider's, which signs, and a device's, which opens",
        about: """
            A NAME is that of the key in the store; without it, the default key is meant. --kind says which, if the store has keys of both kinds. The push key, of which a store has one, is named push.
            Never share a key between protocols: what one produces may be accepted by the other.
            """,
        [
            keyNew, keyShow, .keyList, .keyRotate, .keyCertify, .keyOffline, .keyDefault, .keyRemove, .keyExport,
            .keyImport,
        ])

    private static let keyNew = Command(
        group: "new", "create a key",
        [.keyNewDevice, .keyNewProvider, .keyNewPush])

    private static let keyShow = Command(
        "show", "print the public key, or the record for the other side",
        about:
            "--json prints the record: of a device, to register with; of a provider, for phones to pin, with its certificate. Of a device whose key is changing, the pending key is shown: it is the one to register, and already opens.",
        examples: [
            Example("pushcrypt key show --json", "the record"),
            "pushcrypt key show | pushcrypt --store P device add phone1 -",
        ]
    ) { a in
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let output = OutputArguments(&a)
        let (kind, name) = (a.keyKind(), a.keyName())
        return { console in
            let store = try console.open(store)
            let text: String
            switch try store.kind(kind, of: name) {
            case .device:
                let state = try store.state()
                let account = try state.accountWithKeys(name)
                text = state.text(of: try account.keyToRegister(), in: account, asJSON: isJSON)
            case .provider: text = try store.providerKey(named: name).text(asJSON: isJSON)
            case .push: text = try store.ownPushKey(at: console.timestamp).text(asJSON: isJSON)
            }
            try console.deliver(text + "\n", to: output)
        }
    }
}

// MARK: Choosing a key

/// The owner of a key.
enum KeyKind: String, CaseIterable, Sendable {
    case device, provider, push
}

extension Arguments {
    mutating func keyKind() -> KeyKind? {
        choice(
            "--kind", "KIND", help: "what the key is for, if the store has several kinds, or the format does not say it"
        )
    }

    /// `[NAME]`: one of the store's own keys.
    mutating func keyName() -> String? {
        optionalOperand("NAME", help: "the key's name in the store; default the default key")
    }
}

extension SQLiteKeyStore {
    /// The kind of the key of a name, or of the default key, unless `--kind` says it.
    func kind(_ given: KeyKind?, of name: String?) throws -> KeyKind {
        if let given { return given }
        // A damaged row may be of any name: the other keys are found all the same.
        func isKey(_ names: () throws -> [String]) throws -> Bool {
            do {
                let names = try names()
                return name.map(names.contains) ?? !names.isEmpty
            } catch let error as KeyStoreError where error.concernsOneRow {
                return true
            }
        }
        let (isDevice, isProvider) = (try isKey(namesWithKeys), try isKey { try providerKeys().map(\.name) })
        if isDevice != isProvider { return isDevice ? .device : .provider }
        let named = name.map { " \(quoted($0))" } ?? ""
        guard !isDevice else {
            throw Failure.usage(
                "the store has a device key\(named) and a provider key\(named)",
                hint: "say which with --kind device or --kind provider")
        }
        // The push key has no other name.
        if name == nil || name == PushKeyRecord.name, try hasPushKey() { return .push }
        throw KeyStoreError(.unknownName, "the store has no key\(named)")
    }

    /// The record of the push key.
    func ownPushKey(at now: Timestamp) throws -> PushKeyRecord {
        guard let record = try pushKeys(at: now)?.current else {
            throw Failure(KeyStoreError.noPushKey, hint: "pushcrypt key new push makes one")
        }
        return record
    }
}

// MARK: Texts

extension DeviceState {
    /// A public key, or the registration record that a phone sends to its provider, with what it knows of its provider key.
    func text(of key: Key, in account: Account, asJSON: Bool) -> String {
        guard asJSON else { return "\(key.publicKey)" }
        let pin = account.topic.flatMap { trust(for: $0, account: account.name).pins.first }
        let registration = DeviceRegistration(
            publicKey: key.publicKey, topic: account.topic, generation: key.generation, createdAt: key.createdAt,
            pinnedProvider: account.pins.first?.key, certificate: pin?.learned.certificate)
        return String(decoding: registration.json, as: UTF8.self)
    }
}

extension DeviceState.Account {
    /// The pending key, else the active one.
    func keyToRegister() throws -> DeviceState.Key {
        guard let currentKey else {
            throw Failure.usage("the store has no device key to show", hint: "pushcrypt key new device makes one")
        }
        return currentKey
    }

    /// The line about a change of a key, for people.
    func text(of key: DeviceState.Key, after verb: String) -> String {
        "\(verb) \(name): device key \(key.keyID) (generation \(key.generation))"
            + (topic.map { ", app \($0)" } ?? "")
    }
}

extension ProviderKeyRecord {
    /// The public key, or the record that phones pin.
    func text(asJSON: Bool) -> String {
        guard asJSON else { return "\(publicKey)" }
        let record = ProviderRecord(
            publicKey: publicKey, topic: topic, generation: 1, createdAt: createdAt, certificate: certificate)
        return String(decoding: record.json, as: UTF8.self)
    }

    /// The line about a change of the key, for people.
    func text(after verb: String) -> String {
        "\(verb) \(name): provider key \(keyID)" + (topic.map { ", app \($0)" } ?? "")
    }
}

extension PushKeyRecord {
    /// The public key, or the member of a registration reply.
    func text(asJSON: Bool) -> String {
        asJSON
            ? String(decoding: jsonObject { $0.string(publicKey.text, for: "push_key") }, as: UTF8.self)
            : publicKey.text
    }
}
