internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keygen = Command(
        group: "keygen", "make a key",
        examples: [Example("pushcrypt keygen sender --topic com.example.app"), Example("pushcrypt keygen device")],
        commands: [keygenDevice, keygenSender])

    private static let keygenDevice = Command(
        "device", "make a device's key, which opens",
        discussion: [
            "Prints the public key, which the device registers with its provider. The secret key stays in the store."
        ],
        options: keygenOptions,
        examples: [
            Example("pushcrypt keygen device"), Example("pushcrypt keygen device --name work --topic com.example.app"),
            Example("pushcrypt keygen device --output device.key", "into a key file, without a store"),
        ], run: { (invocation, console) throws(CommandFailure) in try KeyRole.device.generate(invocation, console) })

    private static let keygenSender = Command(
        "sender", "make a provider's key, which signs",
        discussion: [
            "Prints the public key, which the app's devices trust. The secret key stays in the store."
        ],
        options: keygenOptions,
        examples: [
            Example("pushcrypt keygen sender --topic com.example.app"),
            Example("pushcrypt keygen sender --import sender.key", "take a key that exists"),
        ], run: { (invocation, console) throws(CommandFailure) in try KeyRole.sender.generate(invocation, console) })

    private static let keygenOptions: [Option] = [
        .keyName, .keyTopic, .keyIsDefault,
        Option("--import", "FILE", .secret, help: "take the secret key of a file, fd:N or - instead of a new one"),
        .store, .passphraseFile, .json,
        Option(
            "--output", short: "-o", "FILE", .file, help: "write the secret key to a file, and use no store"),
        .force,
    ]
}

extension Option {
    static let keyName = Option("--name", "NAME", help: "what the store calls the key; 'default' otherwise")
    static let keyTopic = Option(
        "--topic", "BUNDLE-ID", help: "bind the key to one app, which then need not be repeated")
    static let keyIsDefault = Option(
        flag: "--default", help: "make it the key that commands use when none is named")
}

/// Which of the two kinds of key a command is about.
enum KeyRole: String, Sendable {
    case device
    case sender

    func generate(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
        if invocation.flag("--output") {
            try invocation.useNoStore(besides: "--import")
            switch self {
            case .device: try console.deliverKeyFile(DeviceKey(), of: invocation)
            case .sender: try console.deliverKeyFile(SenderKey(), of: invocation)
            }
            return .done
        }
        let source = invocation.value("--import")
        switch self {
        case .device: try console.keep(source.map(console.readDeviceKey(from:)), of: invocation)
        case .sender: try console.keep(source.map(console.readSenderKey(from:)), of: invocation)
        }
        return .done
    }
}

// MARK: Into the store

extension Console {
    /// Puts a device's key into the store, or a new one, and prints what the provider is told.
    func keep(_ imported: DeviceKey?, of invocation: Invocation) throws(CommandFailure) {
        let store = try openStore(invocation)
        let name = invocation.value("--name") ?? "default"
        let topic = try invocation.topic()
        let now = timestamp
        let isDefault = invocation.flag("--default")
        // Before the first key that is made here, because nothing that was sent earlier can be for it, and so that whatever
        // fails leaves no key that nobody was told of.
        let isFirst = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys().isEmpty }
        if imported == nil, isFirst { try createReplayFile(invocation) }
        let record = try withStoreErrors { () throws(KeyStoreError) in
            let record =
                if let imported {
                    try store.importDeviceKey(imported, named: name, topic: topic, at: now)
                } else {
                    try store.generateDeviceKey(named: name, topic: topic, at: now)
                }
            if isDefault { try store.setDefaultDeviceKey(named: name) }
            return record
        }
        try write((invocation.flag("--json") ? registrationText(record, store) : "\(record.publicKey)") + "\n")
    }

    /// Puts a sender's key into the store, or a new one, and prints what the phones are told.
    func keep(_ imported: SenderKey?, of invocation: Invocation) throws(CommandFailure) {
        let store = try openStore(invocation)
        let name = invocation.value("--name") ?? "default"
        let topic = try invocation.topic()
        let now = timestamp
        let isDefault = invocation.flag("--default")
        let record = try withStoreErrors { () throws(KeyStoreError) in
            let record =
                if let imported {
                    try store.importSenderKey(imported, named: name, topic: topic, at: now)
                } else {
                    try store.generateSenderKey(named: name, topic: topic, at: now)
                }
            if isDefault { try store.setDefaultSenderKey(named: name) }
            return record
        }
        try write((invocation.flag("--json") ? announcementText(record) : "\(record.publicKey)") + "\n")
    }
}

// MARK: Into a key file

extension Invocation {
    /// Refuses, beside `--output`, what only a key in a store has.
    func useNoStore(besides others: String...) throws(CommandFailure) {
        for name in ["--store", "--name", "--default"] + others + ["--passphrase-file", "--topic"] where flag(name) {
            throw .usage("--output and \(name) exclude each other", hint: "a key file is used without a store")
        }
    }
}

extension Console {
    /// Makes a key file: the public key is printed, the secret one appears only in the file.
    func deliverKeyFile(_ key: DeviceKey, of invocation: Invocation) throws(CommandFailure) {
        try key.withText { (text) throws(CommandFailure) in try deliverSecret(text, of: invocation) }
        let record = DeviceRegistration(publicKey: key.publicKey, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, of: invocation)
    }

    /// The same for a sender's key.
    func deliverKeyFile(_ key: SenderKey, of invocation: Invocation) throws(CommandFailure) {
        try key.withText { (text) throws(CommandFailure) in try deliverSecret(text, of: invocation) }
        let record = SenderAnnouncement(publicKey: key.publicKey, topic: nil, generation: 1, createdAt: timestamp).json
        try writePublic("\(key.publicKey)", record, of: invocation)
    }

    private func writePublic(
        _ key: String, _ record: ContiguousArray<UInt8>, of invocation: Invocation
    ) throws(CommandFailure) {
        guard invocation.value("--output") != "-" else { return }
        try write((invocation.flag("--json") ? String(decoding: record, as: UTF8.self) : key) + "\n")
    }
}

extension Console {
    /// Writes the text of a secret key and a newline to a file of its owner's, or to a pipe; never to a terminal.
    func deliverSecret(_ text: Span<UInt8>, of invocation: Invocation) throws(CommandFailure) {
        if invocation.value("--output").map({ $0 == "-" }) ?? true {
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
            line[text.count] = UInt8(ascii: "\n")
        }
        try line.withSpan { (line) throws(CommandFailure) in
            try deliver(line, of: invocation, isSecret: true)
        }
    }
}

// MARK: Records

/// What a phone sends to its provider.
func registrationText(_ record: DeviceKeyRecord, _ store: SQLiteKeyStore) throws(CommandFailure) -> String {
    let senders = try withStoreErrors { () throws(KeyStoreError) in try store.trustedSenders() }
    let pinned = senders.last { sender in
        sender.state == .pinned && (sender.topic == nil || record.topic == nil || sender.topic == record.topic)
    }
    let registration = DeviceRegistration(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt,
        pinnedSender: pinned?.key)
    return String(decoding: registration.json, as: UTF8.self)
}

/// What a provider tells its app's phones.
func announcementText(_ record: SenderKeyRecord) -> String {
    let announcement = SenderAnnouncement(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt)
    return String(decoding: announcement.json, as: UTF8.self)
}
