internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyList = Command(
        "list", "list the keys of the store",
        about: "One key per line: the name, whose key it is, the public key, its app, and what it does now.",
        examples: ["pushcrypt key list", "pushcrypt key list --json"]
    ) { a in
        let (store, isJSON) = (StoreArguments(&a), a.json())
        return { console in
            let store = try console.open(store)
            let (providers, accounts) = (try store.providerKeys(), try store.state().accounts)
            let push = try store.pushKeys(at: console.timestamp)
            let first = accounts.first { !$0.keys.isEmpty }?.name
            let devices = accounts.flatMap { account in
                account.keys.map { KeyLine($0, of: account, isDefault: account.name == first) }
            }
            let pushes = [
                push.map { KeyLine($0.current, "signs requests to relays, made \($0.current.createdAt)") },
                push?.next.map { KeyLine($0, "will sign requests to relays, 7 days after \($0.createdAt)") },
                push?.previous.map { KeyLine($0, "signs requests to relays where a grant is still for it") },
            ]
            let lines = providers.map { KeyLine($0) } + devices + pushes.compactMap(\.self)
            try console.write(lines.map { isJSON ? $0.json : $0.text }.joined())
        }
    }

    static let keyDefault = Command(
        "default", "choose the key that is used without a name", examples: ["pushcrypt key default work"]
    ) { a in
        let kind = a.keyKind()
        let store = StoreArguments(&a)
        let name = a.operand("NAME", help: "the key's name in the store")
        return { console in
            let store = try console.open(store)
            let kind = try store.kind(kind, of: name)
            switch kind {
            case .device: try store.change { (state) throws(KeyStoreError) in try state.setDefault(name) }
            case .provider: try store.setDefaultProviderKey(named: name)
            // A store has one.
            case .push: break
            }
            console.changed("made \(name) the default \(kind) key")
        }
    }

    static let keyRemove = Command(
        "remove", "destroy a key, and what it was for",
        about:
            "Destroys every key of the name. With a device's keys, for example at a log-out, its pins go too. Asks first.",
        examples: ["pushcrypt key remove work", Example("pushcrypt key remove work --yes", "in a script")]
    ) { a in
        let kind = a.keyKind()
        let isAgreed = a.consent()
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let name = a.operand("NAME", help: "the key's name in the store")
        return { console in
            let store = try console.open(store)
            let kind = try store.kind(kind, of: name)
            func agree(_ effect: String) throws {
                guard !isAgreed else { return }
                console.hint(effect)
                try console.agree("destroy \(quoted(name))?", otherwise: Arguments.consentHint)
            }
            let removed: [KeyID]
            switch kind {
            case .device:
                let ids = try store.state().accountWithKeys(name).keys.map(\.keyID.description)
                try agree("what is sealed to \(ids.joined(separator: ", ")) opens no more")
                removed = try store.change { $0.removeAccount(name) }.map(\.keyID)
                try store.eraseDeleted()
            case .provider:
                let record = try store.providerKey(named: name)
                try agree("phones that have pinned \(record.keyID) open nothing more that this store seals")
                removed = [try store.removeProviderKey(named: name).keyID]
            case .push:
                removed = [PushKey.fingerprint(of: try store.ownPushKey(at: console.timestamp).publicKey)]
                try agree("relays refuse every grant until phones have fetched others")
                try store.removePushKey()
            }
            let ids = removed.map(\.description)
            if isJSON { try console.writeObject { $0.strings(ids, for: "removed") } }
            console.changed("removed \(name): \(kind) key \(ids.joined(separator: ", "))")
        }
    }
}

/// One of the store's own keys, as `key list` shows it.
private struct KeyLine {
    let name: String
    let kind: KeyKind
    let publicKey: String
    let keyID: KeyID
    var topic: Topic?
    var generation: UInt64 = 1
    let createdAt: Timestamp?
    var isDefault = true
    /// One word: whether it is pending, active or retiring, or where a provider key's secret is.
    var state = "in-store"
    /// Of the certificate in use, 0 without one; nil for a device.
    var epoch: UInt32?
    var expiresAt: Timestamp?
    var isStale = false
    /// The key's work now, for people.
    let meaning: String

    init(_ record: ProviderKeyRecord) {
        (name, kind, publicKey, keyID) = (record.name, .provider, "\(record.publicKey)", record.keyID)
        (topic, createdAt, isDefault) = (record.topic, record.createdAt, record.isDefault)
        (epoch, expiresAt, isStale) = (record.epoch, record.certificate?.expiresAt, record.warning != nil)
        if record.isOffline { state = "offline" }
        let signer = record.epoch == 0 ? "signs itself" : "a signing key of epoch \(record.epoch) signs"
        let end = record.certificate?.expiresAt.map { ", expires \($0)" } ?? ""
        meaning =
            (record.isOffline ? "offline" : "in the store") + ", \(signer), since \(record.signsSince)\(end)"
            + (record.warning == nil ? "" : ", stale")
    }

    init(_ record: PushKeyRecord, _ meaning: String) {
        (name, kind, publicKey) = (PushKeyRecord.name, .push, record.publicKey.text)
        (keyID, createdAt) = (PushKey.fingerprint(of: record.publicKey), record.createdAt)
        self.meaning = meaning
    }

    init(_ key: DeviceState.Key, of account: DeviceState.Account, isDefault: Bool) {
        (name, kind, publicKey, keyID) = (account.name, .device, "\(key.publicKey)", key.keyID)
        (topic, generation, createdAt) = (account.topic, key.generation, key.createdAt)
        (state, self.isDefault) = ("\(key.state)", isDefault)
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
        jsonLine { json in
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
    }
}

extension Arguments {
    static let consentHint = "--yes agrees without a question"

    /// `--yes`.
    mutating func consent() -> Bool { flag("--yes", help: "do not ask, for scripts") }
}
