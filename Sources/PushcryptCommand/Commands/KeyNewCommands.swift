internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct KeyNewDeviceCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Prints the public key, to register with the provider. The secret key stays in the store."
            ],
            examples: [
                Example("pushcrypt key new device"),
                Example("pushcrypt key new device --name work --topic com.example.app"),
                Example("pushcrypt key new device --output device.key", "into a key file, without a store"),
                Example("pushcrypt key new device --post-quantum", "one that a quantum computer does not break"),
            ])
    }

    private let isPostQuantum: Bool
    private let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        isPostQuantum = arguments.postQuantum()
        destination = NewKeyArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let suite: CipherSuite = isPostQuantum ? .xwing : .x25519
        guard destination.output.path != nil else {
            try console.keep(nil, suite, in: destination)
            return .done
        }
        let key: DeviceKey
        do throws(KeyError) {
            key = try DeviceKey(suite)
        } catch {
            throw CommandFailure(error, inOption: "--post-quantum")
        }
        try console.deliverKeyFile(key, to: destination)
        return .done
    }
}

struct KeyNewProviderCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Prints the public key, for phones to pin. The secret key stays in the store."
            ],
            examples: [
                Example("pushcrypt key new provider --topic com.example.app"),
            ])
    }

    private let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        destination = NewKeyArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        if destination.output.path != nil {
            try console.deliverKeyFile(ProviderKey(), to: destination)
        } else {
            try console.keep(nil, in: destination)
        }
        return .done
    }
}

extension Arguments {
    mutating func postQuantum() -> Bool {
        flag("--post-quantum", help: "of suite 2, which a quantum computer cannot read; needs libsodium 1.0.22")
    }
}

/// The destination of a new key: the store, or a key file.
struct NewKeyArguments: Sendable {
    let name: String
    let topic: TopicArgument
    let isDefault: Bool
    let clock: ClockArgument
    let store: StoreArguments
    let isJSON: Bool
    /// The key file; its path is nil for a key in the store.
    let output: OutputArguments

    init(_ arguments: inout Arguments) {
        name =
            arguments.value("--name", "NAME", help: "the new key's name in the store; default 'default'") ?? "default"
        topic = TopicArgument(&arguments, help: "bind the key to this app")
        isDefault = arguments.flag("--default", help: "make it the default key")
        clock = ClockArgument(&arguments)
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        output = OutputArguments(&arguments, help: "write the secret key to a key file instead of a store")
        arguments.option(
            "--output",
            excludes: [
                "--store", "--name", "--default", ClockArgument.option, "--passphrase-file", "--topic",
            ],
            hint: "a key file is used without a store")
    }
}

// MARK: Into the store

extension Console {
    /// Stores a device's key, a new one without `imported`, and prints what the provider needs.
    func keep(_ imported: DeviceKey?, _ suite: CipherSuite = .x25519, in arguments: NewKeyArguments)
        throws(CommandFailure)
    {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now, clock) = (arguments.name, timestamp, arguments.clock.assurance(self))
        // Before the first key that is made here, because nothing sent earlier can be for it, and so that a failure leaves no
        // key that nobody was told of.
        let isFirst = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys().isEmpty }
        if imported == nil, isFirst { try createReplayFile(of: arguments.store) }
        let record = try withStoreErrors { () throws(KeyStoreError) in
            let record =
                if let imported {
                    try store.importDeviceKey(imported, named: name, topic: topic, clock: clock, at: now)
                } else {
                    try store.generateDeviceKey(named: name, topic: topic, suite: suite, clock: clock, at: now)
                }
            if arguments.isDefault { try store.setDefaultDeviceKey(named: name) }
            return record
        }
        try write((arguments.isJSON ? registrationText(record, store) : "\(record.publicKey)") + "\n")
    }

    /// Stores a provider's key, a new one without `imported`, and prints what the phones need.
    func keep(_ imported: ProviderKey?, in arguments: NewKeyArguments) throws(CommandFailure) {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now, clock) = (arguments.name, timestamp, arguments.clock.assurance(self))
        let record = try withStoreErrors { () throws(KeyStoreError) in
            let record =
                if let imported {
                    try store.importProviderKey(imported, named: name, topic: topic, clock: clock, at: now)
                } else {
                    try store.generateProviderKey(named: name, topic: topic, clock: clock, at: now)
                }
            if arguments.isDefault { try store.setDefaultProviderKey(named: name) }
            return record
        }
        try write((arguments.isJSON ? announcementText(record, store) : "\(record.publicKey)") + "\n")
    }
}

// MARK: Into a key file

extension Console {
    /// Writes a device's key file, and prints the public key.
    func deliverKeyFile(_ key: DeviceKey, to arguments: NewKeyArguments) throws(CommandFailure) {
        try key.withText { (text) throws(CommandFailure) in try deliverSecret(text, to: arguments.output) }
        let record = DeviceRegistration(publicKey: key.publicKey, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, arguments)
    }

    /// Writes a provider's key file, and prints the public key.
    func deliverKeyFile(_ key: ProviderKey, to arguments: NewKeyArguments) throws(CommandFailure) {
        try key.withText { (text) throws(CommandFailure) in try deliverSecret(text, to: arguments.output) }
        let record = ProviderAnnouncement(publicKey: key.publicKey, topic: nil, generation: 1, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, arguments)
    }

    private func writePublic(
        _ key: String, _ record: ContiguousArray<UInt8>, _ arguments: NewKeyArguments
    ) throws(CommandFailure) {
        guard arguments.output.file != nil else { return }
        try write((arguments.isJSON ? String(decoding: record, as: UTF8.self) : key) + "\n")
    }

    /// Writes the text of a secret key and a newline to a file that only its owner can read, or to a pipe; never to a
    /// terminal.
    func deliverSecret(_ text: Span<UInt8>, to destination: OutputArguments) throws(CommandFailure) {
        if destination.file == nil {
            if showsOutput {
                throw .usage("a secret key is not shown on a terminal", hint: "write it to a file with --output FILE")
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
        try line.withSpan { (line) throws(CommandFailure) in
            try deliver(line, to: destination, isSecret: true)
        }
    }
}
