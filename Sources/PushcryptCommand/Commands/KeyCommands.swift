internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let key = Command(
        group: "key", "take and give keys in the forms of other programs",
        discussion: [
            "JWK (RFC 8037), PEM (RFC 8410) and bare bytes in base64, as OpenSSL, CryptoKit, PyNaCl and others keep keys of X25519 and Ed25519.",
            "A key has one use. One that signs or decrypts anything else, or logs in anywhere, is not to be taken over: what one protocol makes of it can be used against the other. Take a key that another program made for this use alone, and stop using it there.",
        ],
        examples: [
            Example("pushcrypt key import sender --topic com.example.app sender.pem"),
            Example("pushcrypt key export sender --format jwk"),
        ],
        commands: [keyImport, keyExport])

    private static let keyImport = Command(
        group: "import", "take a key that another program made",
        examples: [
            Example("openssl genpkey -algorithm ed25519 | pushcrypt key import sender --topic com.example.app"),
            Example("pushcrypt key import public phone.jwk | pushcrypt device add phone1 -"),
        ],
        commands: [
            importSecret(
                "device", "take a secret X25519 key into the store: a device's, which opens",
                examples: [
                    Example("pushcrypt key import device phone.jwk"),
                    Example("openssl genpkey -algorithm x25519 | pushcrypt key import device -o device.key"),
                ],
                run: runImportDevice),
            importSecret(
                "sender", "take a secret Ed25519 key into the store: a provider's, which signs",
                examples: [
                    Example("pushcrypt key import sender --topic com.example.app sender.pem"),
                    Example("pushcrypt key import sender --format raw seed.txt", "bare bytes, in base64"),
                ],
                run: runImportSender),
            keyImportPublic,
        ])

    private static func importSecret(
        _ name: String, _ summary: String, examples: [Example], run: @escaping Run
    ) -> Command {
        Command(
            name, summary,
            discussion: [
                "Prints the public key, as keygen does. Afterwards remove the file that the key came in.",
                "A key that is encrypted with a passphrase is decrypted by the program that made it, here by 'openssl pkey -in FILE | pushcrypt key import …'.",
            ],
            operands: [Operand("FILE", .secret, .optional, help: "the secret key: a file, fd:N or standard input (-)")],
            options: [
                .keyFormat, .keyName, .keyTopic, .keyIsDefault, .store, .passphraseFile, .json,
                Option(
                    "--output", short: "-o", "FILE", .file,
                    help: "write the secret key to a key file of pushcrypt's, and use no store"),
                .force,
            ],
            examples: examples, run: run)
    }

    private static let keyImportPublic = Command(
        "public", "print another program's public key in pushcrypt's form",
        discussion: [
            "An X25519 key is a device's (pcr1…), an Ed25519 key a sender's (pcs1…). Nothing is stored: 'device add' and 'sender trust' take what is printed."
        ],
        operands: [Operand("FILE", .input, .optional, help: "the public key; standard input otherwise")],
        options: [
            .keyFormat,
            Option(
                "--kind", "KIND", .choice(["device", "sender"]),
                help: "whose the key is; needed for bare bytes, which do not say it, and checked otherwise"),
            .output, .force,
        ],
        examples: [
            Example("pushcrypt key import public phone.jwk | pushcrypt device add phone1 -"),
            Example("openssl pkey -in sender.pem -pubout | pushcrypt key import public"),
        ], run: runImportPublic)

    private static let keyExport = Command(
        group: "export", "write a key in the form of another program",
        examples: [
            Example("pushcrypt key export sender --format jwk"),
            Example("pushcrypt key export sender --format pem --secret -o sender.pem"),
        ],
        commands: [
            exportKey("device", "write a device's key, an X25519 key", of: .deviceKey, run: runExportDevice),
            exportKey("sender", "write a provider's key, an Ed25519 key", of: .senderKey, run: runExportSender),
        ])

    private static func exportKey(
        _ name: String, _ summary: String, of keys: StoredName, run: @escaping Run
    ) -> Command {
        Command(
            name, summary,
            discussion: [
                "The public key, as 'pushcrypt export' prints it: a device's pending key in preference to the active one. The form says nothing of topic and generation; a provider and a phone of pushcrypt's get the record instead.",
                "With --secret the active secret key. Nothing guards a file of another program's: whoever has it opens or signs.",
            ],
            options: [
                Option(
                    "--format", "FORMAT", .choice(KeyFormat.allCases.map(\.rawValue)), isRequired: true,
                    help: "the form to write"),
                .name(of: keys),
                Option("--key-file", "FILE", .secret, help: "the key of a key file, fd:N or -, instead of the store's"),
                Option(flag: "--secret", help: "write the secret key instead: to --output FILE, or into a pipe"),
                .store, .passphraseFile, .output, .force,
            ],
            examples: [
                Example("pushcrypt key export \(name) --format jwk"),
                Example("pushcrypt key export \(name) --format pem --secret -o \(name).pem"),
            ], run: run)
    }
}

extension Option {
    fileprivate static let keyFormat = Option(
        "--format", "FORMAT", .choice(KeyFormat.allCases.map(\.rawValue)),
        help: "the form; JWK and PEM are recognised, bare bytes in base64 are taken only as raw")
}

extension Invocation {
    /// The form that the caller named: the table has refused other words.
    fileprivate var keyFormat: KeyFormat? { value("--format").flatMap(KeyFormat.init) }

    /// The form to write, which the table requires.
    fileprivate var requiredKeyFormat: KeyFormat {
        guard let format = keyFormat else { preconditionFailure("--format is not required") }
        return format
    }

    /// Where the secret key is, and not the key itself.
    fileprivate func secretOperand() throws(CommandFailure) -> String {
        let source = optionalOperand("FILE") ?? "-"
        if SecretText.isBareKey(source) {
            throw .secretInArguments(hint: "if it is the name of a file, write ./ before it")
        }
        return source
    }

    /// The file of the key to write, instead of a store.
    fileprivate func keyFile() throws(CommandFailure) -> String? {
        guard let source = value("--key-file") else { return nil }
        for name in ["--store", "--name", "--passphrase-file"] where flag(name) {
            throw .usage("--key-file and \(name) exclude each other", hint: "a key file is used without a store")
        }
        return source
    }
}

extension KeyRole {
    fileprivate var curve: KeyCurve {
        switch self {
        case .device: .x25519
        case .sender: .ed25519
        }
    }
}

extension ForeignPublicKey {
    /// As our own commands take it.
    fileprivate var text: String {
        switch self {
        case .device(let key): key.description
        case .sender(let key): key.description
        }
    }
}

extension Console {
    fileprivate func deliver(_ key: String, of invocation: Invocation) throws(CommandFailure) -> ExitCode {
        try deliver(ContiguousArray("\(key)\n".utf8).span, of: invocation)
        return .done
    }
}

// MARK: Import

private func runImportDevice(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let key = try console.withKey(from: invocation.secretOperand()) { (text) throws(KeyError) in
        try DeviceKey(text: text, format: invocation.keyFormat)
    }
    guard invocation.flag("--output") else {
        try console.keep(key, of: invocation)
        return .done
    }
    try invocation.useNoStore()
    try console.deliverKeyFile(key, of: invocation)
    return .done
}

private func runImportSender(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let key = try console.withKey(from: invocation.secretOperand()) { (text) throws(KeyError) in
        try SenderKey(text: text, format: invocation.keyFormat)
    }
    guard invocation.flag("--output") else {
        try console.keep(key, of: invocation)
        return .done
    }
    try invocation.useNoStore()
    try console.deliverKeyFile(key, of: invocation)
    return .done
}

private func runImportPublic(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let curve = invocation.value("--kind").flatMap(KeyRole.init)?.curve
    let key = try console.withKey(from: invocation.operand("FILE"), isShared: true) { (text) throws(KeyError) in
        try ForeignPublicKey(text: text, format: invocation.keyFormat, of: curve)
    }
    return try console.deliver(key.text, of: invocation)
}

// MARK: Export

private func runExportDevice(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let format = invocation.requiredKeyFormat
    let key: DeviceKey
    if let source = try invocation.keyFile() {
        key = try console.readDeviceKey(from: source)
    } else {
        let store = try console.openStore(invocation)
        let name = invocation.value("--name")
        guard invocation.flag("--secret") else {
            let record = try store.deviceKeyToRegister(named: name)
            return try console.deliver(record.publicKey.text(in: format), of: invocation)
        }
        key = try withStoreErrors { () throws(KeyStoreError) in try store.deviceSecret(named: name) }
    }
    guard invocation.flag("--secret") else {
        return try console.deliver(key.publicKey.text(in: format), of: invocation)
    }
    try key.withText(in: format) { (text) throws(CommandFailure) in try console.deliverSecret(text, of: invocation) }
    return .done
}

private func runExportSender(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let format = invocation.requiredKeyFormat
    let key: SenderKey
    if let source = try invocation.keyFile() {
        key = try console.readSenderKey(from: source)
    } else {
        let store = try console.openStore(invocation)
        key = try withStoreErrors { () throws(KeyStoreError) in
            try store.senderKey(named: invocation.value("--name")).key
        }
    }
    guard invocation.flag("--secret") else {
        return try console.deliver(key.publicKey.text(in: format), of: invocation)
    }
    try key.withText(in: format) { (text) throws(CommandFailure) in try console.deliverSecret(text, of: invocation) }
    return .done
}
