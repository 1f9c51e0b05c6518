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
    let statements: String?

    init(_ arguments: inout Arguments) {
        name = arguments.providerName()
        keyFile = arguments.value(
            "--sender-key-file", "FILE", .secret,
            help: "the sender key, instead of a store's: a file, fd:N or -")
        signer = SignerArguments(
            &arguments,
            help: "the program at unix:PATH signs (Docs/SignerProtocol.md); with --store, devices come from the store")
        signerTimeout = arguments.signerTimeout()
        statements = arguments.value(
            "--statement", "FILE", .input,
            help: "announce the rotations in FILE, from 'export sender --statements' or 'rotate signer'")
        arguments.option("--signer-timeout", needs: "--signer", hint: "add --signer unix:PATH")
        arguments.atMostOne(of: "--signer", "--from")
    }

    /// Refuses a key file beside a store, whose options are declared by now.
    func excludeStore(_ arguments: inout Arguments) {
        arguments.option(
            "--sender-key-file", excludes: ["--signer", "--store", "--from", "--passphrase-file"],
            hint: "a key file is used without a store")
    }

    /// Reads `--statement`.
    fileprivate func announced(
        by signer: EnvelopeSigner, _ console: Console
    ) throws(CommandFailure) -> AnnouncedStatements? {
        guard let statements else { return nil }
        return try console.readStatements(from: statements, endingAt: signer.publicKey)
    }

    /// The default number of threads that seal: more than there are processors if they wait for a signer.
    var defaultJobs: Int { signer == nil ? Processors.count : max(4, Processors.count) }
}

extension Arguments {
    /// `--from`: a sender key in the store.
    mutating func providerName() -> String? {
        value("--from", "NAME", .name(.providerKey), help: "the sender key in the store, if not the default one")
    }
}

/// The source of the keys that `seal` uses.
enum SealSource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner, announcing: AnnouncedStatements?)
    /// The devices of a store, with its key or another.
    case store(SQLiteKeyStore, SealingKeys.SenderChoice)

    init(_ arguments: SealArguments, _ console: Console) throws(CommandFailure) {
        let sender = arguments.sender
        if let file = sender.keyFile {
            let signer = EnvelopeSigner(try console.readProviderKey(from: file))
            self = .key(signer, announcing: try sender.announced(by: signer, console))
        } else if let external = sender.signer {
            let socket = try external.connect(
                threads: arguments.batch.jobs ?? sender.defaultJobs, timeout: sender.signerTimeout, console)
            let signer = try withSigningErrors { () throws(SigningError) in try EnvelopeSigner.connect(to: socket) }
            let announced = try sender.announced(by: signer, console)
            // A container with a signer has no store, unless the command line names one.
            self =
                arguments.store.path == nil
                ? .key(signer, announcing: announced)
                : .store(try console.open(arguments.store), .signer(signer, announcing: announced))
        } else {
            guard sender.statements == nil else {
                throw .usage(
                    "--statement needs --sender-key-file or --signer", hint: "a store announces its own rotations")
            }
            self = .store(try console.open(arguments.store), .named(sender.name))
        }
    }

    /// Reads the keys as they are now.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let announced): SealingKeys(signer, announcing: announced)
        case .store(let store, let sender): try SealingKeys(of: store, sender)
        }
    }

    /// Reads the keys for one thread of a batch, which follow the store's changes.
    func followingKeys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer, let announced): SealingKeys(signer, announcing: announced)
        case .store(let store, let sender): try SealingKeys(following: store, sender)
        }
    }
}
