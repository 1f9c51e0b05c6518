internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct KeyListCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: ["One key per line: the name, whose key it is, the public key, its app, and what it does now."],
            examples: [Example("pushcrypt key list"), Example("pushcrypt key list --json")])
    }

    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let (providers, devices) = try withStoreErrors { () throws(KeyStoreError) in
            (try store.providerKeys(), try store.deviceKeys())
        }
        let now = console.timestamp
        var output = OutputBuffer(console)
        for line in providers.map({ KeyLine($0) }) + devices.map({ KeyLine($0, at: now) }) {
            try output.append(isJSON ? line.json : line.text)
        }
        try output.flush()
        return .done
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
    /// One word.
    let state: String
    /// What the key does now, for people.
    let meaning: String

    init(_ record: ProviderKeyRecord) {
        (name, kind, publicKey, keyID) = (record.name, .provider, "\(record.publicKey)", record.keyID)
        (topic, generation, createdAt) = (record.topic, record.generation, record.createdAt)
        isDefault = record.isDefault
        state = "active"
        meaning = "signs, made \(record.createdAt)"
    }

    init(_ record: DeviceKeyRecord, at now: Timestamp) {
        (name, kind, publicKey, keyID) = (record.name, .device, "\(record.publicKey)", record.keyID)
        (topic, generation, createdAt) = (record.topic, record.generation, record.createdAt)
        isDefault = record.isDefault
        state = "\(record.state)"
        meaning =
            if let end = record.retiresAt {
                "\(record.state), opens until \(end)"
            } else {
                "\(record.state), made \(record.createdAt)"
            }
    }

    var text: String {
        let words = [
            sanitized(forTerminal: name), kind.rawValue, publicKey, topic?.bundleID ?? "-",
            meaning + (isDefault ? ", the default" : ""),
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
            json.bool(isDefault, for: "default")
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }
}

struct KeyDefaultCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(examples: [Example("pushcrypt key default work")])
    }

    private let name: String
    private let kind: KeyKind?
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        name = arguments.operand("NAME", .name(.ownKey), help: "the key's name in the store")
        kind = arguments.keyKind()
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let kind = try OwnKeyArguments(name: name, kind: kind).kind(in: store)
        try withStoreErrors { () throws(KeyStoreError) in
            switch kind {
            case .device: try store.setDefaultDeviceKey(named: name)
            case .provider: try store.setDefaultProviderKey(named: name)
            }
        }
        return .done
    }
}

struct KeyRemoveCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Destroys every key of the name, a device's for example at a log-out: what is sealed to them opens no more. Asks first."
            ],
            examples: [Example("pushcrypt key remove work"), Example("pushcrypt key remove work --yes", "in a script")])
    }

    private let name: String
    private let kind: KeyKind?
    private let isAgreed: Bool
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        name = arguments.operand("NAME", .name(.ownKey), help: "the key's name in the store")
        kind = arguments.keyKind()
        isAgreed = arguments.consent()
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let kind = try OwnKeyArguments(name: name, kind: kind).kind(in: store)
        guard kind == .device else {
            throw .usage("a provider's key is not removed")
        }
        let keys = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys(named: name) }
        console.hintPurged(keys)
        if !isAgreed { try console.agree("destroy the keys of \(quoted(name))?", otherwise: Arguments.consentHint) }
        let purged = try withStoreErrors { () throws(KeyStoreError) in try store.purgeDeviceKeys(named: name) }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.array(for: "removed") { json in
                    for record in purged { json.string(record.keyID.description) }
                }
            }
            try console.write(line: json.bytes)
        }
        return .done
    }
}

extension Arguments {
    static let consentHint = "--yes agrees without a question"

    /// `--yes`.
    mutating func consent() -> Bool { flag("--yes", help: "do not ask, for scripts") }
}
