internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The options for the key that signs.
struct SenderArguments: Sendable {
    let name: String?
    let keyFile: String?
    let signer: String?
    let signerKey: String?
    let statements: String?
    /// In milliseconds.
    let signerTimeout: Int?

    init(_ arguments: inout Arguments) {
        name = arguments.senderName()
        keyFile = arguments.value(
            "--sender-key-file", "FILE", .secret,
            help: "the sender key, instead of a store's: a file, fd:N or -")
        signer = arguments.value(
            "--signer", "ADDRESS",
            help:
                "the program at unix:PATH signs (Docs/SignerProtocol.md); with --store, devices come from the store"
        )
        signerKey = arguments.value(
            "--signer-key", "KEY",
            help:
                "the public key (pcs1…) that the signer must have; otherwise a warning shows its key"
        )
        signerTimeout = arguments.milliseconds(
            "--signer-timeout", "TIME", 1...600_000,
            help:
                "how long the signer may be silent (default 10s); a group of messages may take three times as long"
        )
        statements = arguments.value(
            "--statement", "FILE", .input,
            help: "announce the rotations in FILE, from 'export sender --statements', with a key file or a signer")
        for name in ["--signer-key", "--signer-timeout"] {
            arguments.option(name, needs: "--signer", hint: "add --signer unix:PATH")
        }
        arguments.atMostOne(of: "--signer", "--from")
    }

    /// Refuses a key file beside a store, whose options are declared by now.
    func excludeStore(_ arguments: inout Arguments) {
        arguments.option(
            "--sender-key-file", excludes: ["--signer", "--store", "--from", "--passphrase-file"],
            hint: "a key file is used without a store")
        arguments.option(
            "--statement", excludes: ["--store", "--from", "--passphrase-file"],
            hint: "messages carry what the store announces")
    }

    /// Reads `--statement`.
    fileprivate func announced(
        by signer: EnvelopeSigner, _ console: Console
    ) throws(CommandFailure) -> AnnouncedStatements? {
        guard let statements else { return nil }
        let text = String(decoding: try console.read(statements, limit: 4096), as: UTF8.self)
        do throws(RotationError) {
            return try AnnouncedStatements(text: text, endingAt: signer.publicKey)
        } catch {
            throw .usage(
                "\(quoted(statements)): \(error.code): \(error)",
                hint: "write the file again: pushcrypt export sender --statements")
        }
    }

    /// The default number of threads that seal: more than there are processors if they wait for a signer.
    var defaultJobs: Int { signer == nil ? Processors.count : max(4, Processors.count) }
}

extension Arguments {
    /// `--from`: a sender key in the store.
    mutating func senderName() -> String? {
        value("--from", "NAME", .name(.senderKey), help: "the sender key in the store, if not the default one")
    }
}

/// The source of the keys that `seal` uses.
enum SealSource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner, announcing: AnnouncedStatements?)
    /// The devices of a store, with its key or another.
    case store(SQLiteKeyStore, SealingKeys.SenderChoice)

    /// - Parameter isBrief: whether the store is read at once, and closed.
    init(_ arguments: SealArguments, isBrief: Bool = false, _ console: Console) throws(CommandFailure) {
        let sender = arguments.sender
        if let file = sender.keyFile {
            let signer = EnvelopeSigner(try console.readSenderKey(from: file))
            self = .key(signer, announcing: try sender.announced(by: signer, console))
        } else if let address = sender.signer {
            let signer = try EnvelopeSigner(at: address, sender, jobs: arguments.batch.jobs, console)
            // A container with a signer has no store, unless the command line names one.
            self =
                arguments.store.path == nil
                ? .key(signer, announcing: try sender.announced(by: signer, console))
                : .store(try console.open(arguments.store, isBrief: isBrief), .signer(signer))
        } else {
            guard sender.statements == nil else {
                throw .usage(
                    "--statement needs --sender-key-file or --signer", hint: "a store announces its own rotations")
            }
            self = .store(try console.open(arguments.store, isBrief: isBrief), .named(sender.name))
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

extension EnvelopeSigner {
    private static let scheme = "unix:"

    /// Connects to the signer, compares its key with `--signer-key`, and requests the one signature that all threads share.
    fileprivate init(
        at address: String, _ sender: SenderArguments, jobs: Int?, _ console: Console
    ) throws(CommandFailure) {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("--signer cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        let expected: SenderPublicKey?
        do throws(KeyError) {
            expected = try sender.signerKey.map { (text) throws(KeyError) in try SenderPublicKey(text: text) }
        } catch {
            throw CommandFailure(error, inOption: "--signer-key")
        }
        let signer = try withSigner { () throws(SigningError) in
            try SocketSigner(
                path: String(address.dropFirst(Self.scheme.count)),
                threads: jobs ?? sender.defaultJobs, timeout: sender.signerTimeout ?? SocketSigner.standardTimeout)
        }
        try signer.checkKey(expected, console)
        self = try withSigner { () throws(SigningError) in try EnvelopeSigner.connect(to: signer) }
    }
}

private func withSigner<R>(_ body: () throws(SigningError) -> R) throws(CommandFailure) -> R {
    do throws(SigningError) {
        return try body()
    } catch {
        throw CommandFailure(error)
    }
}

extension SocketSigner {
    /// Compares the key with `--signer-key`.
    fileprivate func checkKey(_ expected: SenderPublicKey?, _ console: Console) throws(CommandFailure) {
        guard let expected else {
            // A false signer would not be noticed: its signatures are valid under its own key.
            return console.warning(
                "the signer's key, \(publicKey), is not checked: add --signer-key with that key")
        }
        guard publicKey == expected else {
            throw .usage(
                "the signer has another key than --signer-key: \(publicKey)",
                hint:
                    "no phone that trusts \(expected) would open what it signs; check that the socket is the right one")
        }
    }
}
