internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(group: "key", "import and export keys in the formats of other programs") {
        CommandGroup(
            discussion: [
                "JWK (RFC 8037), PEM (RFC 8410), and raw bytes in base64, for the X25519 and Ed25519 keys of OpenSSL, CryptoKit, PyNaCl and others. Docs/migration/keys.md has examples.",
                "Never share a key between protocols: what one produces may be accepted by the other. Import only a key that was created for this use.",
            ],
            commands: [keyImport, keyExport])
    }

    private static let keyImport = Command(group: "import", "import a key that another program made") {
        CommandGroup(
            discussion: [
                "Its own program decrypts a key with a passphrase: 'openssl pkey -in FILE | pushcrypt key import …'."
            ],
            commands: [
                Command(
                    "device", "import a device's secret key (X25519)",
                    KeyImportDeviceCommand.self),
                Command(
                    "sender", "import a provider's secret key (Ed25519)",
                    KeyImportSenderCommand.self),
                Command(
                    "public", "print another program's public key in pushcrypt's format", KeyImportPublicCommand.self),
            ])
    }

    private static let keyExport = Command(group: "export", "write a key in the format of another program") {
        CommandGroup(
            discussion: [
                "The formats have no topic and no generation: pushcrypt's own programs need the record, from 'export'."
            ],
            commands: [
                Command("device", "write a device's key (X25519)", KeyExportDeviceCommand.self),
                Command("sender", "write a provider's key (Ed25519)", KeyExportSenderCommand.self),
            ])
    }
}

// MARK: Import

extension Arguments {
    fileprivate mutating func keyFormat() -> KeyFormat? {
        choice(
            "--format", "FORMAT",
            help: "the format; jwk and pem are recognised, raw must be given")
    }
}

/// The arguments for the import of a secret key.
private struct KeyImportArguments: Sendable {
    /// The paragraphs for both imports.
    static let discussion = [
        "Prints the public key, as 'keygen' does. Remove the key's file afterwards."
    ]

    let file: String
    let format: KeyFormat?
    let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        file =
            arguments.optionalOperand(
                "FILE", .secret, help: "the secret key: a file, fd:N or -; default standard input") ?? "-"
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
            try ProviderKey(text: text, format: arguments.format)
        }
        if arguments.destination.output.path == nil {
            try console.keep(key, in: arguments.destination)
        } else {
            try console.deliverKeyFile(key, to: arguments.destination)
        }
        return .done
    }
}

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
        file = arguments.optionalInput("FILE", help: "the public key; default standard input")
        format = arguments.keyFormat()
        kind = arguments.choice(
            "--kind", "KIND",
            help: "the owner; required for raw, checked otherwise")
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
            "--key-file", "FILE", .secret, help: "the key, instead of the store's: a key file, fd:N or -")
        isSecret = arguments.flag(
            "--secret", help: "write the active secret key: to --output, or into a pipe")
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
                "Writes the public key, as 'export' does. Nothing protects a secret key in these formats."
            ],
            examples: [
                Example("pushcrypt key export \(subject) --format jwk"),
                Example("pushcrypt key export \(subject) --format pem --secret -o \(subject).pem"),
            ])
    }
}

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
                try record.publicKey.checkHasOtherFormats()
                try console.deliver(record.publicKey.text(in: arguments.format) + "\n", to: arguments.output)
                return .done
            }
            key = try withStoreErrors { () throws(KeyStoreError) in try store.deviceSecret(named: arguments.name) }
        }
        try key.publicKey.checkHasOtherFormats()
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

extension DevicePublicKey {
    fileprivate func checkHasOtherFormats() throws(CommandFailure) {
        guard suite == .x25519 else {
            throw .usage(
                "a post-quantum key has no other format", hint: "pushcrypt export device writes the public key")
        }
    }
}

struct KeyExportSenderCommand: CommandBody {
    static var page: CommandPage { KeyExportArguments.page(of: "sender") }

    private let arguments: KeyExportArguments

    init(_ arguments: inout Arguments) { self.arguments = KeyExportArguments(&arguments, of: .providerKey) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key: ProviderKey
        if let file = arguments.keyFile {
            key = try console.readProviderKey(from: file)
        } else {
            let store = try console.open(arguments.store)
            key = try withStoreErrors { () throws(KeyStoreError) in try store.providerKey(named: arguments.name).key }
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
