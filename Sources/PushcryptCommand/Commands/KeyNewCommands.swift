internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyNewDevice = Command(
        "device", "create a device's key, which opens",
        about: [
            "Prints the public key, to register with the provider. The secret key stays in the store."
        ],
        examples: [
            "pushcrypt key new device",
            "pushcrypt key new device --name work --topic com.example.app",
            Example("pushcrypt key new device --output device.key", "into a key file, without a store"),
            Example("pushcrypt key new device --post-quantum", "one that a quantum computer does not break"),
        ]
    ) { a in
        let isPostQuantum = a.postQuantum()
        let destination = NewKeyArguments(&a)
        return { console in
            let suite: CipherSuite = isPostQuantum ? .xwing : .x25519
            guard destination.output.path != nil else {
                try console.keep(nil, suite, in: destination)
                return .done
            }
            let key: DeviceKey
            do throws(KeyError) {
                key = try DeviceKey(suite)
            } catch {
                throw Failure(error, inOption: "--post-quantum")
            }
            try console.deliverKeyFile(key, to: destination)
            return .done
        }
    }
}

extension Command {
    static let keyNewProvider = Command(
        "provider", "create a provider's key, which phones trust",
        about: [
            "Prints the public key, for phones to pin. Without --offline the secret key stays in the store and signs messages itself, which is for trying: anyone who copies the store speaks as the provider for ever.",
            "--offline writes the secret key to --output, never to the store. The store gets a signing key, and a certificate of the provider key for it. Move the file to a machine that serves nothing, and keep it twice on paper. See Docs/Keys.md.",
        ],
        more: [
            "With --provider and --provider-signer the key is one that exists already, in a key service: the program signs a challenge, and then a certificate for the signing key that the store gets."
        ],
        examples: [
            "pushcrypt key new provider --topic com.example.app",
            Example(
                "pushcrypt key new provider --topic com.example.app --offline -o provider.key", "before going live"),
            Example("pushcrypt key new provider -o provider.key", "into a key file, without a store"),
            "pushcrypt key new provider --topic com.example.app --provider pcs1… --provider-signer ./signer",
        ]
    ) { a in
        let command = KeyNewProviderCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyNewProviderCommand {
    private let isOffline: Bool
    private let provider: String?
    private let signer: String?
    private let lifetime: Interval?
    private let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        isOffline = arguments.flag(
            "--offline", help: "keep the secret key out of the store, which gets a signing key and a certificate")
        lifetime = arguments.certificateLifetime()
        destination = NewKeyArguments(&arguments, mayKeepBoth: true)
        arguments.group("a key in a key service", isAdvanced: true)
        provider = arguments.value("--provider", "KEY", help: "the public half of the provider key (pcs1…)")
        signer = arguments.providerSigner()
        arguments.group(nil)
        let forOneApp = "a certificate is for one app: add its bundle id"
        arguments.option("--offline", needs: "--output", hint: "add -o FILE for the secret key")
        arguments.option("--offline", needs: "--topic", hint: forOneApp)
        arguments.option("--provider-signer", needs: "--provider", hint: "add the public half of its key (pcs1…)")
        arguments.option("--provider-signer", needs: "--topic", hint: forOneApp)
        arguments.option("--provider", needs: "--provider-signer", hint: "add the program that signs with the key")
        arguments.option(
            "--provider-signer", excludes: ["--offline", "--output"], hint: "the secret key is where the program has it"
        )
    }

    func run(_ console: Console) throws -> ExitCode {
        if let provider, let signer {
            try certify(
                by: ProviderSigner(program: signer, provider: ProviderPublicKey(provider, inOption: "--provider")),
                console)
        } else if lifetime != nil, !isOffline {
            throw Failure.usage(
                "--expires goes with --offline or --provider-signer",
                hint: "only a certificate has an end: leave it out")
        } else if isOffline {
            try makeOffline(console)
        } else if destination.output.path != nil {
            try destination.refuseStore()
            try console.deliverKeyFile(ProviderKey(), to: destination)
        } else {
            try console.keep(nil, in: destination)
        }
        return .done
    }

    private func makeOffline(_ console: Console) throws {
        let (store, topic) = try open(console)
        let key = ProviderKey()
        try key.withText { text in try console.deliverSecret(text, to: destination.output) }
        let record = try store.addOfflineProviderKey(
            key, named: destination.name, topic: topic, expires: lifetime, at: console.timestamp)
        try finish(record, in: store, "made", showsKey: destination.output.file != nil, console)
        console.hint("the secret of the provider key is only where it was written: move it away from this machine")
    }

    /// Adds a key that exists elsewhere, once the program there has proven that it has the key, and has certified a signing key.
    private func certify(by signer: ProviderSigner, _ console: Console) throws {
        let (store, topic) = try open(console)
        try signer.prove()
        let (key, now) = (SigningKey(), console.timestamp)
        let unsigned = try UnsignedCertificate(
            CertificatePlan(offlineAt: now, expires: lifetime), for: key.publicKey, provider: signer.provider,
            topic: topic)
        let certificate = try signer.sign(unsigned)
        let credential = try SigningCredential(key, certificate, by: signer.provider)
        let record = try store.addOfflineProviderKey(
            signing: credential, named: destination.name, topic: topic, at: now)
        try finish(record, in: store, "added", showsKey: true, console)
    }

    /// Opens the store. A name that is taken is refused before anything is written or signed.
    private func open(_ console: Console) throws -> (SQLiteKeyStore, Topic) {
        guard let topic = try destination.topic.topic(console) else { preconditionFailure("a rule needs --topic") }
        let store = try console.open(destination.store)
        let names = try store.providerKeys().map(\.name)
        if names.contains(destination.name) {
            throw Failure(KeyStoreError(.nameTaken, "a provider key is already named '\(destination.name)'"))
        }
        return (store, topic)
    }

    private func finish(
        _ record: ProviderKeyRecord, in store: SQLiteKeyStore, _ verb: String, showsKey: Bool, _ console: Console
    ) throws {
        if destination.isDefault {
            try store.setDefaultProviderKey(named: destination.name)
        }
        if showsKey { try console.write((destination.isJSON ? record.json : "\(record.publicKey)") + "\n") }
        console.changed("\(record.text(after: verb)), signing key of epoch \(record.epoch)")
    }
}

extension Arguments {
    mutating func postQuantum() -> Bool {
        flag("--post-quantum", help: "of suite 2, which a quantum computer cannot read; needs libsodium 1.0.22")
    }

    /// `--expires`.
    mutating func certificateLifetime() -> Interval? {
        seconds(
            "--expires", "TIME", 86_400...3650 * 86_400,
            help: "how long the certificate is good: even a phone that hears nothing believes a thief no longer"
        )
        .map { .seconds(UInt64($0)) }
    }
}

/// The destination of a new key: the store, or a key file.
struct NewKeyArguments: Sendable {
    let name: String
    let topic: TopicArgument
    let isDefault: Bool
    let store: StoreArguments
    let isJSON: Bool
    /// The key file; its path is nil for a key in the store.
    let output: OutputArguments
    /// The options that were given and are about a store.
    private let ofStore: [String]

    private static let hint = "a key file is used without a store"

    /// - Parameter mayKeepBoth: Whether there may be a key file beside a key in the store.
    init(_ arguments: inout Arguments, mayKeepBoth: Bool = false) {
        ((name, topic, isDefault, store), ofStore) = arguments.given { arguments in
            (
                arguments.value("--name", "NAME", help: "the new key's name in the store; default 'default'")
                    ?? SQLiteKeyStore.defaultName,
                TopicArgument(&arguments, help: "bind the key to this app"),
                arguments.flag("--default", help: "make it the default key"),
                StoreArguments(&arguments)
            )
        }
        isJSON = arguments.json()
        output = OutputArguments(&arguments, help: "write the secret key to a key file instead of a store")
        if !mayKeepBoth {
            arguments.option(
                "--output",
                excludes: ["--store", "--name", "--default", "--passphrase-file", "--topic"],
                hint: Self.hint)
        }
    }

    /// Refuses what a push key does not have: a store has one, for all apps.
    func refuseAllButStore() throws {
        let names =
            ofStore.filter { ["--name", "--topic", "--default"].contains($0) }
            + (output.path == nil ? [] : ["--output"])
        guard let name = names.first else { return }
        throw Failure.usage("a push key has no \(name)", hint: "a store has one push key, for all of its apps")
    }

    /// Refuses options about a store beside a key file.
    func refuseStore() throws {
        guard let name = ofStore.first else { return }
        throw Failure.usage("--output and \(name) exclude each other", hint: Self.hint)
    }
}

// MARK: Into the store

extension Console {
    /// Stores a device's key, a new one without `imported`, and prints what the provider needs.
    func keep(_ imported: DeviceKey?, _ suite: CipherSuite = .x25519, in arguments: NewKeyArguments)
        throws
    {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now) = (arguments.name, timestamp)
        // Before the first key that is made here, because nothing sent earlier can be for it, and so that a failure leaves no
        // key that nobody was told of.
        let isFirst = try store.namesWithKeys().isEmpty
        if imported == nil, isFirst { try createExtensionDatabase(of: arguments.store) }
        let (state, account, key) = try store.change { (state) throws(KeyStoreError) in
            let key = if let imported { imported } else { try state.newKey(suite, DeviceState.makeKey) }
            let added = try state.add(key, to: name, topic: topic, at: now)
            if arguments.isDefault { try state.setDefault(name) }
            return (state, try state.accountWithKeys(name), added)
        }
        try write((arguments.isJSON ? state.registrationText(of: key, in: account) : "\(key.publicKey)") + "\n")
        changed(account.text(of: key, after: imported == nil ? "made" : "imported"))
    }

    /// Stores a provider's key, a new one without `imported`, and prints what the phones need.
    func keep(_ imported: ProviderKey?, in arguments: NewKeyArguments) throws {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now) = (arguments.name, timestamp)
        let record =
            if let imported {
                try store.importProviderKey(imported, named: name, topic: topic, at: now)
            } else {
                try store.generateProviderKey(named: name, topic: topic, at: now)
            }
        if arguments.isDefault { try store.setDefaultProviderKey(named: name) }
        try write((arguments.isJSON ? record.json : "\(record.publicKey)") + "\n")
        changed(record.text(after: imported == nil ? "made" : "imported"))
    }
}

extension DeviceState.Account {
    /// What was done with a key, for people.
    func text(of key: DeviceState.Key, after verb: String) -> String {
        "\(verb) \(name): device key \(key.keyID) (generation \(key.generation))"
            + (topic.map { ", app \($0)" } ?? "")
    }
}

extension ProviderKeyRecord {
    /// What was done with the key, for people.
    func text(after verb: String) -> String {
        "\(verb) \(name): provider key \(keyID)" + (topic.map { ", app \($0)" } ?? "")
    }
}

// MARK: Into a key file

extension Console {
    /// Writes a device's key file, and prints the public key.
    func deliverKeyFile(_ key: DeviceKey, to arguments: NewKeyArguments) throws {
        try key.withText { text in try deliverSecret(text, to: arguments.output) }
        let record = DeviceRegistration(publicKey: key.publicKey, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, arguments)
    }

    /// Writes a provider's key file, and prints the public key.
    func deliverKeyFile(_ key: ProviderKey, to arguments: NewKeyArguments) throws {
        try key.withText { text in try deliverSecret(text, to: arguments.output) }
        let record = ProviderRecord(publicKey: key.publicKey, topic: nil, generation: 1, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, arguments)
    }

    private func writePublic(
        _ key: String, _ record: ContiguousArray<UInt8>, _ arguments: NewKeyArguments
    ) throws {
        guard arguments.output.file != nil else { return }
        try write((arguments.isJSON ? String(decoding: record, as: UTF8.self) : key) + "\n")
    }

    /// Writes the text of a secret key and a newline to a file that only its owner can read, or to a pipe; never to a
    /// terminal.
    func deliverSecret(_ text: Span<UInt8>, to destination: OutputArguments) throws {
        if destination.file == nil {
            if showsOutput {
                throw Failure.usage(
                    "a secret key is not shown on a terminal", hint: "write it to a file with --output FILE")
            }
            if output.isFileOpenToOthers {
                warning("others may read the file that the secret key goes to; chmod 0600 it, or use --output FILE")
            }
        }
        var line = Ephemeral(count: text.count + 1)
        line.withMutableSpan { line in
            for index in text.indices { line[index] = text[index] }
            line[text.count] = newline
        }
        try line.withSpan { line in
            try deliver(line, to: destination, isSecret: true)
        }
    }
}
