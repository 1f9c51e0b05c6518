internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The options for the key that signs.
struct ProviderArguments: Sendable {
    let name: String?
    let keyFile: String?

    init(_ arguments: inout Arguments) {
        name = arguments.providerName()
        keyFile = arguments.value(
            "--signing-key-file", "FILE", .secret,
            help: "the key that signs, instead of a store's: a signing key file or a provider's key file, fd:N or -")
    }

    /// Refuses a key file beside a store, whose options are declared by now.
    func excludeStore(_ arguments: inout Arguments) {
        arguments.option(
            "--signing-key-file", excludes: ["--store", "--sign-with", "--passphrase-file"],
            hint: "a key file is used without a store")
    }
}

extension Arguments {
    /// `--sign-with`: a provider key in the store.
    mutating func providerName() -> String? {
        value(
            "--sign-with", "NAME", .name(.providerKey),
            help: "the provider key in the store, if not the one of the device's app")
    }
}

/// The source of the keys that `seal` uses.
enum SealSource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner, for: Topic?)
    /// The devices of a store, with its key of this name, or the one of each device's app.
    case store(SQLiteKeyStore, signWith: String?)

    init(_ arguments: SealArguments, _ console: Console) throws(CommandFailure) {
        let sender = arguments.sender
        if let file = sender.keyFile {
            let (signer, topic) = try console.readSigningKey(from: file).signer(for: arguments.topic.topic())
            self = .key(signer, for: topic)
        } else {
            self = .store(try console.open(arguments.store), signWith: sender.name)
        }
    }

    /// Reads the keys as they are now.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let topic): SealingKeys(signer, for: topic)
        case .store(let store, let name): try SealingKeys(of: store, signWith: name)
        }
    }

    /// Reads the keys for one thread of a batch, which follow the store's changes.
    func followingKeys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let topic): SealingKeys(signer, for: topic)
        case .store(let store, let name): try SealingKeys(following: store, signWith: name)
        }
    }
}

/// The content of `--signing-key-file`.
enum SigningKeyFile {
    /// Signs messages of epoch 0, for any app.
    case provider(ProviderKey)
    /// A signing key, which its certificate binds to an app.
    case signing(SigningCredential)

    /// The key as what hedges files, for which the app does not matter.
    var hedge: Sealer {
        switch self {
        case .provider(let key): Sealer(provider: key, topic: .example)
        case .signing(let credential):
            Sealer(
                signer: EnvelopeSigner(
                    verified: credential.certificate, credential.key, by: credential.provider, for: .example),
                topic: .example)
        }
    }

    /// The key as what signs messages, and the app that it is bound to.
    func signer(for topic: Topic?) throws(CommandFailure) -> (signer: EnvelopeSigner, topic: Topic?) {
        switch self {
        case .provider(let key): return (EnvelopeSigner(key), nil)
        case .signing(let credential):
            guard let topic else {
                throw .usage(
                    "--topic is missing", hint: "a signing key is for one app: add --topic with its bundle id")
            }
            let signer = try withTrustErrors(in: "--signing-key-file") { () throws(TrustError) in
                try EnvelopeSigner(credential, for: topic)
            }
            return (signer, topic)
        }
    }
}

extension Console {
    func readSigningKey(from source: String) throws(CommandFailure) -> SigningKeyFile {
        let place = source == "-" ? "standard input" : quoted(source)
        let text = try readSecret(from: source)
        do {
            return try text.withSpan { (text) throws in
                do {
                    return .signing(try SigningCredential(text: text))
                } catch let error as KeyError where error.code == .wrongKind {
                    return .provider(try ProviderKey(text: text))
                }
            }
        } catch let error as KeyError {
            throw CommandFailure(error, in: place)
        } catch let error as TrustError {
            throw CommandFailure(error, in: place)
        } catch {
            preconditionFailure("a key file throws nothing else")
        }
    }
}
