internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyExport = Command(
        "export", "write a key, also the secret one, for a backup or another program",
        about: [
            "With --secret, the active secret key, as a key file of this program or in the format of another; nothing protects it there. Of a provider it is the key that signs messages: from the first rotation on a signing key with its certificate, for 'seal --signing-key-file' ('key offline' moves the provider key itself). Without --secret, the public key in the format of another program. The formats of others have no topic and no generation: phones and providers need the record of 'key show --json'."
        ],
        examples: [
            Example("pushcrypt key export --secret -o signing.key", "for a container that seals without a store"),
            "pushcrypt key export work --format pem --secret -o device.pem",
            Example("pushcrypt key export --format jwk", "the public key"),
            Example("pushcrypt key export push --secret --format pem -o push.pem", "the push key"),
        ]
    ) { a in
        let command = KeyExportCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyExportCommand {
    private let key: OwnKeyArguments
    private let keyFile: String?
    private let format: KeyFormat?
    private let isSecret: Bool
    private let store: StoreArguments
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.value(
            "--key-file", "FILE", .secret, help: "the key, instead of the store's: a key file, fd:N or -")
        format = arguments.choice("--format", "FORMAT", help: "the format of another program")
        isSecret = arguments.flag("--secret", help: "write the secret key: to --output, or into a pipe")
        store = StoreArguments(&arguments)
        output = OutputArguments(&arguments)
        arguments.option(
            "--key-file", excludes: ["--store", "--passphrase-file"], hint: "a key file is used without a store")
        key = OwnKeyArguments(&arguments)
    }

    func run(_ console: Console) throws -> ExitCode {
        guard isSecret || format != nil else {
            throw Failure.usage(
                "say what to write: --secret, or --format for the public key",
                hint: "pushcrypt key show prints the public key as this program writes it")
        }
        if isSecret {
            try write(secret(console), console)
        } else if let format {
            try console.deliver(publicText(in: format, console) + "\n", to: output)
        }
        return .done
    }

    // MARK: Secrets

    private enum Secret {
        case key(SecretKey)
        /// A signing key, with its certificate.
        case signing(SigningCredential)
    }

    private func secret(_ console: Console) throws -> Secret {
        if let keyFile { return .key(try readKey(keyFile, console)) }
        let store = try console.open(store)
        let kind = try key.kind(in: store)
        if kind == .device {
            let account = try store.state().accountWithKeys(key.name)
            guard let active = account.keys.last(where: { $0.state == .active }) else {
                throw KeyStoreError(
                    .unknownName, "'\(account.name)' has no active key: confirm its rotation first")
            }
            return .key(.device(try active.deviceKey()))
        }
        if kind == .push { return .key(.push(try store.pushSecrets(at: console.timestamp).current)) }
        let (record, credential) = try store.signingCredential(named: key.name)
        if let credential { return .signing(credential) }
        return .key(.provider(try store.providerSecret(named: record.name)))
    }

    /// Writes a key's file, or the key in another format.
    private func write(_ secret: Secret, _ console: Console) throws {
        func deliver(_ text: Span<UInt8>) throws { try console.deliverSecret(text, to: output) }
        switch (secret, format) {
        case (.key(.device(let key)), nil): try key.withText(deliver)
        case (.key(.provider(let key)), nil): try key.withText(deliver)
        case (.signing(let credential), nil): try credential.withText(deliver)
        case (.key(.device(let key)), let format?):
            try key.publicKey.checkHasOtherFormats()
            try key.withText(in: format, deliver)
        case (.key(.provider(let key)), let format?): try key.withText(in: format, deliver)
        case (.key(.push(let key)), let format?): try key.withText(in: format, deliver)
        case (.key(.push), nil):
            throw Failure.usage("a push key has no key file here", hint: "add --format pem, jwk or raw")
        case (.signing, _?):
            throw Failure.usage("a signing key has no other format", hint: "leave --format out: 'seal' reads its file")
        }
    }

    // MARK: Public keys

    private func publicText(in format: KeyFormat, _ console: Console) throws -> String {
        if let keyFile {
            switch try readKey(keyFile, console) {
            case .device(let key): return try key.publicKey.otherText(in: format)
            case .provider(let key): return key.publicKey.text(in: format)
            case .push(let key): return key.publicKey.text(in: format)
            }
        }
        let store = try console.open(store)
        switch try key.kind(in: store) {
        case .device:
            let account = try store.state().accountWithKeys(key.name)
            return try account.keyToRegister().publicKey.otherText(in: format)
        case .provider:
            return try store.providerKey(named: key.name).publicKey.text(in: format)
        case .push:
            return try store.ownPushKey(at: console.timestamp).publicKey.text(in: format)
        }
    }

    private func readKey(_ file: String, _ console: Console) throws -> SecretKey {
        try console.withKey(from: file) { (text) throws(KeyError) in
            try SecretKey(text, format: nil, kind: key.kind)
        }
    }
}

extension DevicePublicKey {
    fileprivate func otherText(in format: KeyFormat) throws -> String {
        try checkHasOtherFormats()
        return text(in: format)
    }

    fileprivate func checkHasOtherFormats() throws {
        guard suite == .x25519 else {
            throw Failure.usage(
                "a post-quantum key has no other format", hint: "pushcrypt key show writes the public key")
        }
    }
}
