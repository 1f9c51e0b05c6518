internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyExport = Command(
        "export", "write a key, also the secret one, for a backup or another program",
        about:
            "With --secret, the active secret key, as a key file of this program or in the format of another; nothing protects it there. Of a provider it is the key that signs messages: from the first rotation on a signing key with its certificate, for 'seal --signing-key-file' ('key offline' moves the provider key itself). Without --secret, the public key in the format of another program. The formats of others have no topic and no generation: phones and providers need the record of 'key show --json'.",
        examples: [
            Example("pushcrypt key export --secret -o signing.key", "for a container that seals without a store"),
            "pushcrypt key export work --format pem --secret -o device.pem",
            Example("pushcrypt key export --format jwk", "the public key"),
            Example("pushcrypt key export push --secret --format pem -o push.pem", "the push key"),
        ]
    ) { a in
        let keyFile = a.value(
            "--key-file", "FILE", .secret, help: "the key, instead of the store's: a key file, fd:N or -")
        let format: KeyFormat? = a.choice("--format", "FORMAT", help: "the format of another program")
        let isSecret = a.flag("--secret", help: "write the secret key: to --output, or into a pipe")
        let store = StoreArguments(&a)
        let output = OutputArguments(&a)
        a.keyFile("--key-file")
        let (kind, name) = (a.keyKind(), a.keyName())
        return { console in
            guard isSecret || format != nil else {
                throw Failure.usage(
                    "say what to write: --secret, or --format for the public key",
                    hint: "pushcrypt key show prints the public key as this program writes it")
            }
            let file = try keyFile.map { file in
                try console.withKey(from: file) { try SecretKey($0, format: nil, kind: kind) }
            }
            if isSecret {
                let secret =
                    try file.map(StoredSecret.key) ?? console.open(store).secret(kind, name, at: console.timestamp)
                try secret.write(in: format) { text in try console.deliverSecret(text, to: output) }
            } else if let format {
                let text =
                    try file?.publicText(in: format)
                    ?? console.open(store).publicText(of: kind, name, in: format, at: console.timestamp)
                try console.deliver(text + "\n", to: output)
            }
        }
    }

    static let keyImport = Command(
        "import", "take over a secret key from a file of this or another program",
        about: """
            Reads this program's key files, JWK (RFC 8037), PEM (RFC 8410) and raw bytes in base64, for the X25519 keys of devices and the Ed25519 keys of providers; --kind push reads one as the push key. Import only a key that was created for this use, and remove its file afterwards. Its own program decrypts a key with a passphrase. Docs/Keys.md has examples.
            --public prints another program's public key in this program's form, and stores nothing: 'device add' and 'provider pin' read it.
            """,
        examples: [
            "pushcrypt key import --topic com.example.app provider.pem",
            "openssl genpkey -algorithm x25519 | pushcrypt key import -o device.key",
            Example("pushcrypt key import --format raw --kind provider seed.txt", "bare bytes, in base64"),
            "pushcrypt key import --public phone.jwk | pushcrypt device add phone1 -",
        ]
    ) { a in
        let format: KeyFormat? = a.choice(
            "--format", "FORMAT", help: "the format of another program; jwk and pem are recognised, raw must be given")
        let kind = a.keyKind()
        let isPublic = a.flag("--public", help: "the key is a public one: only print it")
        let destination = NewKeyArguments(&a)
        a.option(
            "--public",
            excludes: ["--store", "--name", "--default", "--passphrase-file", "--topic"],
            hint: "a public key is not stored here")
        let file =
            a.optionalOperand("FILE", .secret, help: "the secret key: a file, fd:N or -; default standard input") ?? "-"
        return { console in
            if SecretText.isBareKey(file) {
                throw Failure.secretInArguments(hint: "if it is the name of a file, write ./ before it")
            }
            if isPublic {
                let key = try console.withKey(from: file, isShared: true) {
                    try ForeignPublicKey(text: $0, format: format, of: kind?.curve)
                }
                let text =
                    switch key {
                    case .device(let key): "\(key)"
                    case .provider(let key): "\(key)"
                    }
                return try console.deliver(text + "\n", to: destination.output)
            }
            let isFile = destination.output.path != nil
            switch try console.withKey(from: file, { try SecretKey($0, format: format, kind: kind) }) {
            case .device(let key) where isFile: try console.deliverKeyFile(key, to: destination)
            case .device(let key): try console.keep(key, in: destination)
            case .provider(let key) where isFile: try console.deliverKeyFile(key, to: destination)
            case .provider(let key): try console.keep(key, in: destination)
            case .push(let key): try console.keep(key, in: destination)
            }
        }
    }
}

extension KeyKind {
    /// The curve of its keys in the formats of other programs.
    fileprivate var curve: KeyCurve { self == .device ? .x25519 : .ed25519 }
}

/// A secret key in a file, of this or another program.
private enum SecretKey {
    case device(DeviceKey)
    case provider(ProviderKey)
    case push(PushKey)

    /// - Parameters:
    ///   - format: The format of another program; nil detects JWK and PEM, and this program's own.
    ///   - kind: Whose key it is; nil if the text says it, which raw bytes do not.
    init(_ text: Span<UInt8>, format: KeyFormat?, kind: KeyKind?) throws {
        let format = format ?? KeyFormat(of: text)
        switch kind {
        case .device: self = .device(try Self.device(text, format))
        case .provider: self = .provider(try Self.provider(text, format))
        case .push: self = .push(try PushKey(text: text, format: format))
        case nil:
            // Raw bytes do not show what they are for: either kind would be accepted.
            guard format != .raw else {
                throw KeyError(
                    .wrongKind,
                    "raw bytes do not say what they are for: add --kind device, --kind provider or --kind push")
            }
            do {
                self = .provider(try Self.provider(text, format))
            } catch let error as KeyError where error.code == .wrongKind {
                self = .device(try Self.device(text, format))
            }
        }
    }

    private static func device(_ text: Span<UInt8>, _ format: KeyFormat?) throws -> DeviceKey {
        try format.map { try DeviceKey(text: text, format: $0) } ?? DeviceKey(text: text)
    }

    private static func provider(_ text: Span<UInt8>, _ format: KeyFormat?) throws -> ProviderKey {
        try format.map { try ProviderKey(text: text, format: $0) } ?? ProviderKey(text: text)
    }

    func publicText(in format: KeyFormat) throws -> String {
        switch self {
        case .device(let key): try key.publicKey.otherText(in: format)
        case .provider(let key): key.publicKey.text(in: format)
        case .push(let key): key.publicKey.text(in: format)
        }
    }
}

/// The secret that `key export` writes.
private enum StoredSecret {
    case key(SecretKey)
    /// A signing key, with its certificate.
    case signing(SigningCredential)

    /// Writes a key's file, or the key in another format.
    func write(in format: KeyFormat?, _ deliver: (Span<UInt8>) throws -> Void) throws {
        switch (self, format) {
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
}

extension SQLiteKeyStore {
    fileprivate func secret(_ kind: KeyKind?, _ name: String?, at now: Timestamp) throws -> StoredSecret {
        switch try self.kind(kind, of: name) {
        case .device:
            let account = try state().accountWithKeys(name)
            guard let active = account.keys.last(where: { $0.state == .active }) else {
                throw KeyStoreError(.unknownName, "'\(account.name)' has no active key: confirm its rotation first")
            }
            return .key(.device(try active.deviceKey()))
        case .push: return .key(.push(try pushSecrets(at: now).current))
        case .provider:
            let (record, credential) = try signingCredential(named: name)
            return try credential.map(StoredSecret.signing)
                ?? .key(.provider(providerSecret(named: record.name)))
        }
    }

    fileprivate func publicText(
        of kind: KeyKind?, _ name: String?, in format: KeyFormat, at now: Timestamp
    ) throws -> String {
        switch try self.kind(kind, of: name) {
        case .device: try state().accountWithKeys(name).keyToRegister().publicKey.otherText(in: format)
        case .provider: try providerKey(named: name).publicKey.text(in: format)
        case .push: try ownPushKey(at: now).publicKey.text(in: format)
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
