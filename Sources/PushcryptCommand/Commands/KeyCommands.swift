internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(group: "key", "import and export keys in the formats of other programs") {
        CommandGroup(
            discussion: [
                "JWK (RFC 8037), PEM (RFC 8410) and bare bytes in base64, as OpenSSL, CryptoKit, PyNaCl and others store keys of X25519 and Ed25519.",
                "A key has one use. Do not import a key that signs or decrypts anything else, or logs in anywhere: what one protocol makes of it can be used against the other. Import a key that another program made for this use alone, and stop using it there.",
            ],
            examples: [
                Example("pushcrypt key import sender --topic com.example.app sender.pem"),
                Example("pushcrypt key export sender --format jwk"),
            ],
            commands: [keyImport, keyExport])
    }

    private static let keyImport = Command(group: "import", "import a key that another program made") {
        CommandGroup(
            examples: [
                Example("openssl genpkey -algorithm ed25519 | pushcrypt key import sender --topic com.example.app"),
                Example("pushcrypt key import public phone.jwk | pushcrypt device add phone1 -"),
            ],
            commands: [
                Command(
                    "device", "import a device's secret X25519 key, which opens, into the store",
                    KeyImportDeviceCommand.self),
                Command(
                    "sender", "import a provider's secret Ed25519 key, which signs, into the store",
                    KeyImportSenderCommand.self),
                Command(
                    "public", "print another program's public key in pushcrypt's format", KeyImportPublicCommand.self),
            ])
    }

    private static let keyExport = Command(group: "export", "write a key in the format of another program") {
        CommandGroup(
            examples: [
                Example("pushcrypt key export sender --format jwk"),
                Example("pushcrypt key export sender --format pem --secret -o sender.pem"),
            ],
            commands: [
                Command("device", "write a device's key, an X25519 key", KeyExportDeviceCommand.self),
                Command("sender", "write a provider's key, an Ed25519 key", KeyExportSenderCommand.self),
            ])
    }
}

// MARK: Import

extension Arguments {
    fileprivate mutating func keyFormat() -> KeyFormat? {
        choice(
            "--format", "FORMAT",
            help: "the format; JWK and PEM are recognised, bare bytes in base64 are accepted only as raw")
    }
}

/// The arguments for the import of a secret key.
private struct KeyImportArguments: Sendable {
    /// The paragraphs for both imports.
    static let discussion = [
        "Prints the public key, as keygen does. Afterwards remove the file of the key.",
        "A key that is encrypted with a passphrase is decrypted by the program that made it, for example by 'openssl pkey -in FILE | pushcrypt key import …'.",
    ]

    let file: String
    let format: KeyFormat?
    let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        file =
            arguments.optionalOperand(
                "FILE", .secret, help: "the secret key: a file, fd:N or standard input (-)") ?? "-"
        format = arguments.keyFormat()
        destination = NewKeyArguments(&arguments)
    }

    /// The source of the secret key, which must not be the key itself.
    func source() throws(CommandFailure) -> String {
        if SecretText.isBareKey(file) {
            throw .secretInArguments(hint: "if it is the name of a file, write ./ before it")
        }
        return file
    }
}

/// `key import device`.
struct KeyImportDeviceCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: KeyImportArguments.discussion,
            examples: [
                Example("pushcrypt key import device phone.jwk"),
                Example("openssl genpkey -algorithm x25519 | pushcrypt key import device -o device.key"),
            ])
    }

    private let arguments: KeyImportArguments

    init(_ arguments: inout Arguments) { self.arguments = KeyImportArguments(&arguments) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key = try console.withKey(from: arguments.source()) { (text) throws(KeyError) in
            try DeviceKey(text: text, format: arguments.format)
        }
        if arguments.destination.output.path == nil {
            try console.keep(key, in: arguments.destination)
        } else {
            try console.deliverKeyFile(key, to: arguments.destination)
        }
        return .done
    }
}

/// `key import sender`.
struct KeyImportSenderCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: KeyImportArguments.discussion,
            examples: [
                Example("pushcrypt key import sender --topic com.example.app sender.pem"),
                Example("pushcrypt key import sender --format raw seed.txt", "bare bytes, in base64"),
            ])
    }

    private let arguments: KeyImportArguments

    init(_ arguments: inout Arguments) { self.arguments = KeyImportArguments(&arguments) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key = try console.withKey(from: arguments.source()) { (text) throws(KeyError) in
            try SenderKey(text: text, format: arguments.format)
        }
        if arguments.destination.output.path == nil {
            try console.keep(key, in: arguments.destination)
        } else {
            try console.deliverKeyFile(key, to: arguments.destination)
        }
        return .done
    }
}

/// `key import public`.
struct KeyImportPublicCommand: CommandBody {
    private enum Kind: String, CaseIterable {
        case device, sender

        var curve: KeyCurve {
            switch self {
            case .device: .x25519
            case .sender: .ed25519
            }
        }
    }

    static var page: CommandPage {
        CommandPage(
            discussion: [
                "An X25519 key is a device's (pcr1…), an Ed25519 key a sender's (pcs1…). Nothing is stored: 'device add' and 'sender trust' read the output."
            ],
            examples: [
                Example("pushcrypt key import public phone.jwk | pushcrypt device add phone1 -"),
                Example("openssl pkey -in sender.pem -pubout | pushcrypt key import public"),
            ])
    }

    private let file: String
    private let format: KeyFormat?
    private let kind: Kind?
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        file = arguments.optionalInput("FILE", help: "the public key; standard input otherwise")
        format = arguments.keyFormat()
        kind = arguments.choice(
            "--kind", "KIND",
            help: "the owner of the key; required for bare bytes, which do not say it, and checked otherwise")
        output = OutputArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key = try console.withKey(from: file, isShared: true) { (text) throws(KeyError) in
            try ForeignPublicKey(text: text, format: format, of: kind?.curve)
        }
        let text =
            switch key {
            case .device(let key): key.description
            case .sender(let key): key.description
            }
        try console.deliver(text + "\n", to: output)
        return .done
    }
}

// MARK: Export

/// The arguments for an export.
private struct KeyExportArguments: Sendable {
    let format: KeyFormat
    let name: String?
    let keyFile: String?
    let isSecret: Bool
    let store: StoreArguments
    let output: OutputArguments

    init(_ arguments: inout Arguments, of kind: StoredName) {
        format = arguments.requiredChoice("--format", "FORMAT", placeholder: .jwk, help: "the format to write")
        name = arguments.keyName(of: kind)
        keyFile = arguments.value(
            "--key-file", "FILE", .secret, help: "the key of a key file, fd:N or -, instead of the store's")
        isSecret = arguments.flag(
            "--secret", help: "write the secret key instead: to --output FILE, or into a pipe")
        store = StoreArguments(&arguments)
        output = OutputArguments(&arguments)
        arguments.option(
            "--key-file", excludes: ["--store", "--name", "--passphrase-file"],
            hint: "a key file is used without a store")
    }

    /// The page of an export; `subject` is `device` or `sender`.
    static func page(of subject: String) -> CommandPage {
        CommandPage(
            discussion: [
                "The public key, as 'pushcrypt export' prints it: for a device, the pending key instead of the active one. The format has no topic and no generation; give pushcrypt's own providers and phones the record instead.",
                "With --secret the active secret key. Nothing protects a file of another program: anyone who has it opens or signs.",
            ],
            examples: [
                Example("pushcrypt key export \(subject) --format jwk"),
                Example("pushcrypt key export \(subject) --format pem --secret -o \(subject).pem"),
            ])
    }
}

/// `key export device`.
struct KeyExportDeviceCommand: CommandBody {
    static var page: CommandPage { KeyExportArguments.page(of: "device") }

    private let arguments: KeyExportArguments

    init(_ arguments: inout Arguments) { self.arguments = KeyExportArguments(&arguments, of: .deviceKey) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key: DeviceKey
        if let file = arguments.keyFile {
            key = try console.readDeviceKey(from: file)
        } else {
            let store = try console.open(arguments.store)
            guard arguments.isSecret else {
                let record = try store.deviceKeyToRegister(named: arguments.name)
                try console.deliver(record.publicKey.text(in: arguments.format) + "\n", to: arguments.output)
                return .done
            }
            key = try withStoreErrors { () throws(KeyStoreError) in try store.deviceSecret(named: arguments.name) }
        }
        if arguments.isSecret {
            try key.withText(in: arguments.format) { (text) throws(CommandFailure) in
                try console.deliverSecret(text, to: arguments.output)
            }
        } else {
            try console.deliver(key.publicKey.text(in: arguments.format) + "\n", to: arguments.output)
        }
        return .done
    }
}

/// `key export sender`.
struct KeyExportSenderCommand: CommandBody {
    static var page: CommandPage { KeyExportArguments.page(of: "sender") }

    private let arguments: KeyExportArguments

    init(_ arguments: inout Arguments) { self.arguments = KeyExportArguments(&arguments, of: .senderKey) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key: SenderKey
        if let file = arguments.keyFile {
            key = try console.readSenderKey(from: file)
        } else {
            let store = try console.open(arguments.store)
            key = try withStoreErrors { () throws(KeyStoreError) in try store.senderKey(named: arguments.name).key }
        }
        if arguments.isSecret {
            try key.withText(in: arguments.format) { (text) throws(CommandFailure) in
                try console.deliverSecret(text, to: arguments.output)
            }
        } else {
            try console.deliver(key.publicKey.text(in: arguments.format) + "\n", to: arguments.output)
        }
        return .done
    }
}
