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
        value("--sign-with", "NAME", .name(.providerKey), help: "the provider key in the store, if not the default one")
    }
}

/// The source of the keys that `seal` uses.
enum SealSource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner)
    /// The devices of a store, with its key or another.
    case store(SQLiteKeyStore, SealingKeys.SignerChoice)

    init(_ arguments: SealArguments, _ console: Console) throws(CommandFailure) {
        let sender = arguments.sender
        if let file = sender.keyFile {
            self = .key(EnvelopeSigner(try console.readProviderKey(from: file)))
        } else if let external = sender.signer {
            let socket = try external.connect(
                threads: arguments.batch.jobs ?? sender.defaultJobs, timeout: sender.signerTimeout, console)
            let signer = try withSigningErrors { () throws(SigningError) in try EnvelopeSigner.connect(to: socket) }
            // A container with a signer has no store, unless the command line names one.
            self =
                arguments.store.path == nil
                ? .key(signer) : .store(try console.open(arguments.store), .signer(signer))
        } else {
            self = .store(try console.open(arguments.store), .named(sender.name))
        }
    }

    /// Reads the keys as they are now.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer): SealingKeys(signer)
        case .store(let store, let choice): try SealingKeys(of: store, choice)
        }
    }

    /// Reads the keys for one thread of a batch, which follow the store's changes.
    func followingKeys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer): SealingKeys(signer)
        case .store(let store, let choice): try SealingKeys(following: store, choice)
        }
    }
}
