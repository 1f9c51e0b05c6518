internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let provider = Command(
        group: "provider", "the providers that a phone trusts",
        [providerPin, providerList, providerUnpin])

    private static let providerPin = Command(
        "pin", "trust a provider's public key",
        about: """
            Reads the output of 'key show' of the provider, which must come through a channel that you trust: built into the app, or in the provider's reply to a registration. A record (--json) brings the newest certificate too; later ones come with messages.
            An account trusts one provider key, or two while its app's releases change from one to the other. Accounts do not share what they trust.
            """,
        examples: [
            "pushcrypt key show --json | pushcrypt --store D provider pin",
            "pushcrypt provider pin provider.pub --account work",
        ]
    ) { a in
        let account = a.account()
        let topic = TopicArgument(&a, help: "trust it for this app only")
        let store = StoreArguments(&a)
        let file = a.optionalInput("FILE", help: "the key (pcs1…) or record; default standard input")
        return { console in
            let bytes = try console.readRecord(file)
            let record = try naming("the provider's key") {
                try ProviderRecord(keyOrJSON: bytes, at: console.timestamp)
            }
            if let fault = record.certificateFault { throw Failure(fault, in: "the provider's record") }
            let pin = ProviderPin(record.publicKey, certificate: record.certificate)
            let topic = try topic.topic(console) ?? record.topic
            let store = try console.open(store)
            let account = try store.account(account)
            let outcome = try advising([.topicMismatch: "--topic BUNDLE-ID names the account's app"]) {
                try store.change { (state) throws(KeyStoreError) in
                    try state.pin(pin, for: account, topic: topic)
                }
            }
            let text = "provider key \(pin.key.id), account \(account)" + (topic.map { ", app \($0)" } ?? "")
            if outcome == .unchanged {
                console.hint("pinned already: \(text)")
            } else {
                console.changed("pinned \(text)")
            }
        }
    }

    private static let providerList = Command(
        "list", "list the providers that are pinned",
        about: "One pin per line: the account, the provider key, its app, the newest epoch, who pinned it.",
        examples: ["pushcrypt provider list"]
    ) { a in
        let (store, isJSON) = (StoreArguments(&a), a.json())
        return { console in
            let state = try console.open(store).state()
            var text = ""
            for account in state.accounts {
                for pin in account.pins {
                    let learned = account.topic.flatMap { topic in
                        state.trust(for: topic, account: account.name).pins.first { $0.key == pin.key }?.learned
                    }
                    text += line(pin, account, learned?.certificate, asJSON: isJSON)
                }
            }
            try console.write(text)
        }
    }

    private static let providerUnpin = Command(
        "unpin", "stop trusting a provider",
        about:
            "What is known of the key's certificates stays: pinned again, it cannot bring back a signing key that has ended.",
        examples: ["pushcrypt provider unpin pcs1…"]
    ) { a in
        let account = a.account()
        let store = StoreArguments(&a)
        let key = a.operand("KEY", help: "the provider key (pcs1…), or its key_id")
        return { console in
            let store = try console.open(store)
            let account = try store.account(account)
            let pins = try store.state().account(account)?.pins ?? []
            guard let pin = pins.first(where: { key == "\($0.key)" || key == $0.key.id.description }) else {
                throw Failure.refused(
                    "account \(quoted(account)) has no pin \(quoted(key))", hint: "pushcrypt provider list shows them")
            }
            _ = try store.change { $0.unpin(pin.key, for: account) }
            console.changed("unpinned provider key \(pin.key.id), account \(account)")
        }
    }
}

/// A pin of an account, with the newest certificate that is known.
private func line(
    _ pin: DeviceState.Pin, _ account: DeviceState.Account, _ certificate: Certificate?, asJSON: Bool
) -> String {
    guard asJSON else {
        let words = [
            sanitized(forTerminal: account.name), "\(pin.key)", account.topic?.bundleID ?? "-",
            "epoch \(certificate?.epoch ?? 0)", pin.origin == .app ? "from the app" : "from a reply",
        ]
        return words.joined(separator: "  ") + "\n"
    }
    return jsonLine { json in
        json.string(account.name, for: "account")
        json.string(pin.key.description, for: "public_key")
        json.string(pin.key.id.description, for: "key_id")
        if let topic = account.topic { json.string(topic.bundleID, for: "topic") }
        json.string(pin.origin.rawValue, for: "origin")
        if let certificate {
            json.integer(certificate.epoch, for: "epoch")
            json.string(certificate.description, for: "certificate")
        }
    }
}

extension Arguments {
    fileprivate mutating func account() -> String? {
        value(
            "--account", "NAME",
            help: "the account, by the name of its device key; default the default device key's")
    }
}

extension SQLiteKeyStore {
    /// The given account, or that of the default device key.
    fileprivate func account(_ given: String?) throws -> String {
        if let given { return given }
        return try namesWithKeys().first ?? DeviceState.defaultName
    }
}

extension ProviderRecord {
    /// Reads a record, or a key alone.
    init(keyOrJSON bytes: ContiguousArray<UInt8>, at now: Timestamp) throws {
        if bytes.first == UInt8(ascii: "{") {
            self = try ProviderRecord(json: bytes, at: now)
        } else {
            let key = try ProviderPublicKey(text: String(decoding: bytes, as: UTF8.self))
            self.init(publicKey: key, topic: nil, generation: 1, createdAt: now)
        }
    }
}
