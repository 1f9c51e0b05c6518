internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The options for the key that signs.
struct ProviderArguments: Sendable {
    let name: String?
    let keyFile: String?
    let signer: SignerArguments?
    /// In milliseconds.
    let signerTimeout: Int?

    init(_ arguments: inout Arguments) {
        name = arguments.providerName()
        keyFile = arguments.value(
            "--signing-key-file", "FILE", .secret,
            help: "the key that signs, instead of a store's: a signing key file or a provider's key file, fd:N or -")
        signer = SignerArguments(&arguments)
        signerTimeout = arguments.signerTimeout()
        arguments.option("--signer-timeout", needs: "--signer", hint: "add --signer unix:PATH")
        arguments.atMostOne(of: "--signer", "--sign-with")
    }

    /// Refuses a key file beside a store, whose options are declared by now.
    func excludeStore(_ arguments: inout Arguments) {
        arguments.option(
            "--signing-key-file", excludes: ["--signer", "--store", "--sign-with", "--passphrase-file"],
            hint: "a key file is used without a store")
    }

    /// The default number of threads that seal: more than there are processors if they wait for a signer.
    var defaultJobs: Int { signer == nil ? Processors.count : max(4, Processors.count) }
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
    /// The devices of a store, with its key or another.
    case store(SQLiteKeyStore, SealingKeys.SignerChoice)

    init(_ arguments: SealArguments, _ console: Console) throws(CommandFailure) {
        let sender = arguments.sender
        if let file = sender.keyFile {
            let (signer, topic) = try console.readSigningKey(from: file).signer(for: arguments.topic.topic())
            self = .key(signer, for: topic)
        } else if let external = sender.signer {
            let topic = try arguments.topic.topic()
            let signer = try external.connect(
                threads: arguments.batch.jobs ?? sender.defaultJobs, timeout: sender.signerTimeout, topic: topic,
                console)
            let bound = signer.certificate == nil ? nil : topic
            // A container with a signer has no store, unless the command line names one.
            self =
                arguments.store.path == nil
                ? .key(signer, for: bound) : .store(try console.open(arguments.store), .signer(signer, for: bound))
        } else {
            self = .store(try console.open(arguments.store), .named(sender.name))
        }
    }

    /// Reads the keys as they are now.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let topic): SealingKeys(signer, for: topic)
        case .store(let store, let choice): try SealingKeys(of: store, choice)
        }
    }

    /// Reads the keys for one thread of a batch, which follow the store's changes.
    func followingKeys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let topic): SealingKeys(signer, for: topic)
        case .store(let store, let choice): try SealingKeys(following: store, choice)
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
