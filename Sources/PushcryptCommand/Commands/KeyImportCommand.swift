internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyImport = Command(
        "import", "take over a secret key from a file of this or another program",
        about: [
            "Reads this program's key files, JWK (RFC 8037), PEM (RFC 8410) and raw bytes in base64, for the X25519 keys of devices and the Ed25519 keys of providers; --kind push reads one as the push key. Import only a key that was created for this use, and remove its file afterwards. Its own program decrypts a key with a passphrase. Docs/Keys.md has examples.",
            "--public prints another program's public key in this program's form, and stores nothing: 'device add' and 'provider pin' read it.",
        ],
        examples: [
            "pushcrypt key import --topic com.example.app provider.pem",
            "openssl genpkey -algorithm x25519 | pushcrypt key import -o device.key",
            Example("pushcrypt key import --format raw --kind provider seed.txt", "bare bytes, in base64"),
            "pushcrypt key import --public phone.jwk | pushcrypt device add phone1 -",
        ]
    ) { a in
        let command = KeyImportCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyImportCommand {
    private let file: String
    private let format: KeyFormat?
    private let kind: KeyKind?
    private let isPublic: Bool
    private let destination: NewKeyArguments

    init(_ arguments: inout Arguments) {
        format = arguments.choice(
            "--format", "FORMAT", help: "the format of another program; jwk and pem are recognised, raw must be given")
        kind = arguments.keyKind()
        isPublic = arguments.flag("--public", help: "the key is a public one: only print it")
        destination = NewKeyArguments(&arguments)
        arguments.option(
            "--public",
            excludes: ["--store", "--name", "--default", "--passphrase-file", "--topic"],
            hint: "a public key is not stored here")
        file =
            arguments.optionalOperand(
                "FILE", .secret, help: "the secret key: a file, fd:N or -; default standard input") ?? "-"
    }

    func run(_ console: Console) throws -> ExitCode {
        if SecretText.isBareKey(file) {
            throw Failure.secretInArguments(hint: "if it is the name of a file, write ./ before it")
        }
        guard !isPublic else {
            try printPublicKey(console)
            return .done
        }
        let key = try console.withKey(from: file) { (text) throws(KeyError) in
            try SecretKey(text, format: format, kind: kind)
        }
        let isFile = destination.output.path != nil
        switch key {
        case .device(let key) where isFile: try console.deliverKeyFile(key, to: destination)
        case .device(let key): try console.keep(key, in: destination)
        case .provider(let key) where isFile: try console.deliverKeyFile(key, to: destination)
        case .provider(let key): try console.keep(key, in: destination)
        case .push(let key): try console.keep(key, in: destination)
        }
        return .done
    }

    private func printPublicKey(_ console: Console) throws {
        let key = try console.withKey(from: file, isShared: true) { (text) throws(KeyError) in
            try ForeignPublicKey(text: text, format: format, of: kind?.curve)
        }
        let text =
            switch key {
            case .device(let key): key.description
            case .provider(let key): key.description
            }
        try console.deliver(text + "\n", to: destination.output)
    }
}

/// A secret key in a file, of this or another program.
enum SecretKey {
    case device(DeviceKey)
    case provider(ProviderKey)
    case push(PushKey)

    /// - Parameters:
    ///   - format: The format of another program; nil detects JWK and PEM, and this program's own.
    ///   - kind: Whose key it is; nil if the text says it, which raw bytes do not.
    init(_ text: Span<UInt8>, format: KeyFormat?, kind: KeyKind?) throws(KeyError) {
        let format = format ?? KeyFormat(of: text)
        switch kind {
        case .device: self = .device(try Self.device(text, format))
        case .provider: self = .provider(try Self.provider(text, format))
        case .push: self = .push(try PushKey(text: text, format: format))
        case nil:
            // Nothing in raw bytes shows whose they are: as either kind they would be accepted.
            guard format != .raw else {
                throw KeyError(
                    .wrongKind,
                    "raw bytes do not say what they are for: add --kind device, --kind provider or --kind push")
            }
            do throws(KeyError) {
                self = .provider(try Self.provider(text, format))
            } catch {
                guard error.code == .wrongKind else { throw error }
                self = .device(try Self.device(text, format))
            }
        }
    }

    private static func device(_ text: Span<UInt8>, _ format: KeyFormat?) throws(KeyError) -> DeviceKey {
        guard let format else { return try DeviceKey(text: text) }
        return try DeviceKey(text: text, format: format)
    }

    private static func provider(_ text: Span<UInt8>, _ format: KeyFormat?) throws(KeyError) -> ProviderKey {
        guard let format else { return try ProviderKey(text: text) }
        return try ProviderKey(text: text, format: format)
    }
}
