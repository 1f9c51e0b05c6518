internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let provider = Command(group: "provider", "the providers that a phone trusts") {
        CommandGroup(
            commands: [
                Command("pin", "trust a provider's public key", ProviderPinCommand.self),
                Command("list", "list the providers that are pinned", ProviderListCommand.self),
                Command("unpin", "stop trusting a provider", ProviderUnpinCommand.self),
            ])
    }
}

extension Arguments {
    fileprivate mutating func trustedName() -> String {
        operand("NAME", .name(.pinnedProvider), help: "this store's name for the provider")
    }
}

struct ProviderPinCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads the output of 'key show', which must come through a channel that you trust: built into the app, or in the provider's reply to a registration. When the provider rotates its key, the change takes effect automatically.",
                "--replace is for after a theft: from then on the old key is not trusted, and nothing signed by it brings it back.",
                "A record's recovery keys are accepted with the first key of the name, and with --replace; --no-recovery forgets those that are there.",
            ],
            examples: [Example("pushcrypt key show | pushcrypt --store D provider pin provider -")])
    }

    private let name: String
    private let file: String
    private let topic: TopicArgument
    private let replaces: Bool
    private let forgetsRecoveryKeys: Bool
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        name = arguments.trustedName()
        file = arguments.optionalInput("FILE", help: "the key (pcs1…) or record; default standard input")
        topic = TopicArgument(&arguments, help: "trust it for this app only")
        replaces = arguments.flag("--replace", help: "replace another key of the same name")
        forgetsRecoveryKeys = arguments.flag(
            "--no-recovery", help: "with --replace: trust no recovery key of this name any more")
        store = StoreArguments(&arguments)
        arguments.option("--no-recovery", needs: "--replace")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let bytes = try console.read(file, limit: DeviceInput.maximumRecord)
        let key: ProviderPublicKey
        var recoveryKeys: [RecoveryPublicKey]? = forgetsRecoveryKeys ? [] : nil
        var topic = try topic.topic()
        do throws(KeyError) {
            if bytes.first == UInt8(ascii: "{") {
                let announcement = try ProviderAnnouncement(json: bytes, at: console.timestamp)
                key = announcement.publicKey
                if !forgetsRecoveryKeys, !announcement.recoveryKeys.isEmpty { recoveryKeys = announcement.recoveryKeys }
                topic = topic ?? announcement.topic
            } else {
                key = try ProviderPublicKey(text: String(decoding: bytes, as: UTF8.self))
            }
        } catch {
            throw CommandFailure(error, in: "the provider's key")
        }
        let store = try console.open(store)
        let ended = try withStoreErrors { () throws(KeyStoreError) in
            try store.pinProvider(
                key, recoveryKeys: recoveryKeys, named: name, topic: topic, replace: replaces, at: console.timestamp)
        }
        for sender in ended {
            let name = sanitized(forTerminal: sender.name)
            console.hint(
                "key \(sender.key.id) of \(quoted(name)) is no longer trusted, even for messages in flight")
        }
        return .done
    }
}

struct ProviderListCommand: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("pushcrypt provider list")]) }

    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let senders = try withStoreErrors { () throws(KeyStoreError) in try store.pinnedProviders() }
        var output = OutputBuffer(console)
        for sender in senders {
            let recoveryKeys = try withStoreErrors { () throws(KeyStoreError) in
                try store.recoveryKeys(ofProvider: sender.name)
            }
            if isJSON {
                var json = JSONWriter()
                json.object { json in
                    json.string(sender.name, for: "name")
                    json.string(sender.key.description, for: "public_key")
                    json.string(sender.key.id.description, for: "key_id")
                    if let topic = sender.topic { json.string(topic.bundleID, for: "topic") }
                    json.string(sender.state.description, for: "state")
                    if let end = sender.verifiesUntil { json.integer(end.milliseconds, for: "verifies_until") }
                    if sender.state == .pinned, !recoveryKeys.isEmpty {
                        json.array(for: "recovery") { json in
                            for key in recoveryKeys { json.string(key.description) }
                        }
                    }
                }
                try output.append(String(decoding: json.bytes, as: UTF8.self) + "\n")
            } else {
                let state =
                    if sender.state == .pinned {
                        sender.isRevoked ? "replaced under another name, not trusted" : "trusted"
                    } else if !sender.isRevoked, let end = sender.verifiesUntil {
                        "superseded, verifies until \(end)"
                    } else {
                        "replaced, not trusted"
                    }
                try output.append(
                    "\(sanitized(forTerminal: sender.name))  \(sender.key)  \(sender.topic?.bundleID ?? "-")  \(state)\n"
                )
                guard sender.state == .pinned else { continue }
                for key in recoveryKeys {
                    try output.append("\(sanitized(forTerminal: sender.name))  \(key)  -  recovery key\n")
                }
            }
        }
        try output.flush()
        return .done
    }
}

struct ProviderUnpinCommand: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("pushcrypt provider unpin provider")]) }

    private let name: String
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        name = arguments.trustedName()
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let wasTrusted = try withStoreErrors { () throws(KeyStoreError) in try store.unpinProvider(named: name) }
        if !wasTrusted {
            throw .usage("no provider \(quoted(name)) is pinned", hint: "pushcrypt provider list shows them")
        }
        return .done
    }
}
