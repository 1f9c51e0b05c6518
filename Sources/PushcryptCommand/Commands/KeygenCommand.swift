internal import Pushcrypt
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
        Option("--name", "NAME", help: "what the store calls the key; 'default' otherwise"),
        Option("--topic", "BUNDLE-ID", help: "bind the key to one app, which then need not be repeated"),
        Option(flag: "--default", help: "make it the key that commands use when none is named"),
        Option("--import", "FILE", .secret, help: "take the secret key of a file, fd:N or - instead of a new one"),
        .store, .passphraseFile, .json,
        Option(
            "--output", short: "-o", "FILE", .file, help: "write the secret key to a file, and use no store"),
        .force,
    ]
}

/// Which of the two kinds of key a command is about.
enum KeyRole: String, Sendable {
    case device
    case sender

    func generate(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
        if invocation.flag("--output") { return try generateFile(invocation, console) }
        let store = try console.openStore(invocation)
        let name = invocation.value("--name") ?? "default"
        let topic = try invocation.topic()
        let now = console.timestamp
        let isDefault = invocation.flag("--default")
        let printed: String
        switch self {
        case .device:
            let imported = try invocation.value("--import").map(console.readDeviceKey(from:))
            // Before the first key that is made here, because nothing that was sent earlier can be for it, and so that whatever
            // fails leaves no key that nobody was told of.
            let isFirst = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys().isEmpty }
            if imported == nil, isFirst { try console.createReplayFile(invocation) }
            let record = try withStoreErrors { () throws(KeyStoreError) in
                let record =
                    if let imported {
                        try store.importDeviceKey(imported, name: name, topic: topic, now: now)
                    } else {
                        try store.generateDeviceKey(name: name, topic: topic, now: now)
                    }
                if isDefault { try store.setDefaultDeviceKey(name: name) }
                return record
            }
            printed = try invocation.flag("--json") ? registrationText(record, store) : "\(record.publicKey)"
        case .sender:
            let imported = try invocation.value("--import").map(console.readSenderKey(from:))
            let record = try withStoreErrors { () throws(KeyStoreError) in
                let record =
                    if let imported {
                        try store.importSenderKey(imported, name: name, topic: topic, now: now)
                    } else {
                        try store.generateSenderKey(name: name, topic: topic, now: now)
                    }
                if isDefault { try store.setDefaultSenderKey(name: name) }
                return record
            }
            printed = invocation.flag("--json") ? announcementText(record) : "\(record.publicKey)"
        }
        try console.write(printed + "\n")
        return .done
    }

    /// Makes a key file: the public key is printed, the secret one appears only in the file.
    private func generateFile(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
        for name in ["--store", "--name", "--default", "--import", "--passphrase-file", "--topic"]
        where invocation.flag(name) {
            throw .usage("--output and \(name) exclude each other", hint: "a key file is used without a store")
        }
        let publicKey: String
        let record: ContiguousArray<UInt8>
        switch self {
        case .device:
            let key = DeviceKey()
            publicKey = "\(key.publicKey)"
            record = DeviceRegistration(publicKey: key.publicKey, createdAt: console.timestamp).json
            try key.withText { (text) throws(CommandFailure) in
                try console.deliverSecret(text, of: invocation)
            }
        case .sender:
            let key = SenderKey()
            publicKey = "\(key.publicKey)"
            record =
                SenderAnnouncement(
                    publicKey: key.publicKey, topic: nil, generation: 1, createdAt: console.timestamp
                ).json
            try key.withText { (text) throws(CommandFailure) in
                try console.deliverSecret(text, of: invocation)
            }
        }
        guard invocation.value("--output") != "-" else { return .done }
        try console.write((invocation.flag("--json") ? String(decoding: record, as: UTF8.self) : publicKey) + "\n")
        return .done
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
