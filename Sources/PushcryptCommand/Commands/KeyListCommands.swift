internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyList = Command(
        "list", "list the keys of the store",
        about: ["One key per line: the name, whose key it is, the public key, its app, and what it does now."],
        examples: ["pushcrypt key list", "pushcrypt key list --json"]
    ) { a in
        let store = StoreArguments(&a)
        let isJSON = a.json()
        return { console in
            let store = try console.open(store)
            let (providers, state, push) = (
                try store.providerKeys(), try store.state(), try store.pushKeys(at: console.timestamp)
            )
            var output = OutputBuffer(console)
            let first = state.accounts.first { !$0.keys.isEmpty }?.name
            let devices = state.accounts.flatMap { account in
                account.keys.map { KeyLine($0, of: account, isDefault: account.name == first) }
            }
            let pushes = [
                push.map { KeyLine($0.current, "signs requests to relays, made \($0.current.createdAt)") },
                push?.next.map { KeyLine($0, "will sign requests to relays, 7 days after \($0.createdAt)") },
                push?.previous.map { KeyLine($0, "signs requests to relays where a grant is still for it") },
            ]
            let lines = providers.map { KeyLine($0) } + devices + pushes.compactMap(\.self)
            for line in lines {
                try output.append(isJSON ? line.json : line.text)
            }
            try output.flush()
            return .done
        }
    }
}

/// One of the store's own keys, as `key list` shows it.
private struct KeyLine {
    let name: String
    let kind: KeyKind
    let publicKey: String
    let keyID: KeyID
    let topic: Topic?
    let generation: UInt64
    let createdAt: Timestamp?
    let isDefault: Bool
    /// One word: whether it is pending, active or retiring, or where a provider key's secret is.
    let state: String
    /// Of the certificate in use, 0 without one; nil for a device.
    let epoch: UInt32?
    let expiresAt: Timestamp?
    let isStale: Bool
    /// What the key does now, for people.
    let meaning: String

    init(_ record: ProviderKeyRecord) {
        (name, kind, publicKey, keyID) = (record.name, .provider, "\(record.publicKey)", record.keyID)
        (topic, generation, createdAt) = (record.topic, 1, record.createdAt)
        isDefault = record.isDefault
        state = record.isOffline ? "offline" : "in-store"
        (epoch, expiresAt, isStale) = (record.epoch, record.certificate?.expiresAt, record.warning != nil)
        let place = record.isOffline ? "offline" : "in the store"
        let signer = record.epoch == 0 ? "signs itself" : "a signing key of epoch \(record.epoch) signs"
        let end = record.certificate?.expiresAt.map { ", expires \($0)" } ?? ""
        meaning = "\(place), \(signer), since \(record.signsSince)\(end)" + (isStale ? ", stale" : "")
    }

    init(_ record: PushKeyRecord, _ meaning: String) {
        (name, kind, publicKey) = (PushKeyRecord.name, .push, record.publicKey.text)
        (keyID, generation, createdAt) = (PushKey.fingerprint(of: record.publicKey), 1, record.createdAt)
        (topic, epoch, expiresAt, isDefault, isStale) = (nil, nil, nil, true, false)
        state = "in-store"
        self.meaning = meaning
    }

    init(_ key: DeviceState.Key, of account: DeviceState.Account, isDefault: Bool) {
        (name, kind, publicKey, keyID) = (account.name, .device, "\(key.publicKey)", key.keyID)
        (topic, generation, createdAt) = (account.topic, key.generation, key.createdAt)
        (epoch, expiresAt, isStale, self.isDefault) = (nil, nil, false, isDefault)
        state = "\(key.state)"
        meaning = key.retiresAt.map { "\(key.state), opens until \($0)" } ?? "\(key.state), made \(key.createdAt)"
    }

    var text: String {
        let words = [
            sanitized(forTerminal: name), kind.rawValue, publicKey, topic?.bundleID ?? "-",
            meaning + (isDefault && kind != .push ? ", the default" : ""),
        ]
        return words.joined(separator: "  ") + "\n"
    }

    var json: String {
        var json = JSONWriter()
        json.object { json in
            json.string(name, for: "name")
            json.string(kind.rawValue, for: "kind")
            json.string(publicKey, for: "public_key")
            json.string(keyID.description, for: "key_id")
            if let topic { json.string(topic.bundleID, for: "topic") }
            json.integer(generation, for: "generation")
            if let createdAt { json.integer(createdAt.milliseconds, for: "created") }
            json.string(state, for: "state")
            if let epoch { json.integer(epoch, for: "epoch") }
            if let expiresAt { json.integer(expiresAt.milliseconds, for: "expires") }
            if isStale { json.bool(true, for: "stale") }
            json.bool(isDefault, for: "default")
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }
}

extension Command {
    static let keyDefault = Command(
        "default", "choose the key that is used without a name", examples: ["pushcrypt key default work"]
    ) { a in
        let kind = a.keyKind()
        let store = StoreArguments(&a)
        let name = a.operand("NAME", help: "the key's name in the store")
        return { console in
            let store = try console.open(store)
            let kind = try OwnKeyArguments(name: name, kind: kind).kind(in: store)
            switch kind {
            case .device: try store.change { (state) throws(KeyStoreError) in try state.setDefault(name) }
            case .provider: try store.setDefaultProviderKey(named: name)
            // A store has one.
            case .push: break
            }
            console.changed("made \(name) the default \(kind) key")
            return .done
        }
    }
}

extension Command {
    static let keyRemove = Command(
        "remove", "destroy a key, and what it was for",
        about: [
            "Destroys every key of the name. With a device's keys, for example at a log-out, its pins go too. Asks first."
        ], examples: ["pushcrypt key remove work", Example("pushcrypt key remove work --yes", "in a script")]
    ) { a in
        let command = KeyRemoveCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyRemoveCommand {
    private let name: String
    private let kind: KeyKind?
    private let isAgreed: Bool
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        kind = arguments.keyKind()
        isAgreed = arguments.consent()
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        name = arguments.operand("NAME", help: "the key's name in the store")
    }

    func run(_ console: Console) throws -> ExitCode {
        let store = try console.open(store)
        let kind = try OwnKeyArguments(name: name, kind: kind).kind(in: store)
        let removed =
            switch kind {
            case .device: try removeDevice(store, console)
            case .provider: try removeProvider(store, console)
            case .push: try removePush(store, console)
            }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.array(for: "removed") { json in for id in removed { json.string(id.description) } }
            }
            try console.write(line: json.bytes)
        }
        console.changed("removed \(name): \(kind) key \(removed.map(\.description).joined(separator: ", "))")
        return .done
    }

    private func removeDevice(_ store: SQLiteKeyStore, _ console: Console) throws -> [KeyID] {
        let account = try store.state().accountWithKeys(name)
        let ids = account.keys.map(\.keyID.description).joined(separator: ", ")
        try agree("what is sealed to \(ids) opens no more", console)
        let removed = try store.change { $0.removeAccount(name) }
        try store.eraseDeleted()
        return removed.map(\.keyID)
    }

    private func removeProvider(_ store: SQLiteKeyStore, _ console: Console) throws -> [KeyID] {
        let record = try store.providerKey(named: name)
        try agree("phones that have pinned \(record.keyID) open nothing more that this store seals", console)
        return [try store.removeProviderKey(named: name).keyID]
    }

    private func removePush(_ store: SQLiteKeyStore, _ console: Console) throws -> [KeyID] {
        let record = try store.ownPushKey(at: console.timestamp)
        try agree("relays refuse every grant until phones have fetched others", console)
        try store.removePushKey()
        return [PushKey.fingerprint(of: record.publicKey)]
    }

    private func agree(_ effect: String, _ console: Console) throws {
        guard !isAgreed else { return }
        console.hint(effect)
        try console.agree("destroy \(quoted(name))?", otherwise: Arguments.consentHint)
    }
}

extension Arguments {
    static let consentHint = "--yes agrees without a question"

    /// `--yes`.
    mutating func consent() -> Bool { flag("--yes", help: "do not ask, for scripts") }
}
