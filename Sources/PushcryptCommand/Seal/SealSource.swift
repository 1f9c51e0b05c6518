internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Option {
    /// With which key `seal` signs.
    static let sealSender = [
        Option("--from", "NAME", .name(.senderKey), help: "the sender key in the store; otherwise the default one"),
        Option(
            "--sender-key-file", "FILE", .secret,
            help: "sign with this key and use no store: a file, fd:N, or - for standard input"),
        Option(
            "--signer", "ADDRESS",
            help:
                "have messages signed by the program that listens at unix:PATH (Docs/SignerProtocol.md); with --store the devices are looked up there"
        ),
        Option(
            "--signer-key", "KEY",
            help:
                "the sender's public key (pcs1…) that the signer must have; without it a warning says which one it has"),
        Option(
            "--signer-timeout", "TIME", .milliseconds(1...600_000),
            help:
                "how long the signer may be silent, and a third of how long it may take for what is asked together; 10s otherwise"
        ),
    ]
}

/// Where `seal` takes its keys from.
enum SealSource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner)
    /// The devices of a store, and a key of it or from elsewhere.
    case store(SQLiteKeyStore, SealingKeys.SenderChoice)

    init(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        for name in ["--signer-key", "--signer-timeout"] where invocation.flag(name) && !invocation.flag("--signer") {
            throw .usage("\(name) goes with --signer", hint: "add --signer unix:PATH")
        }
        if let source = invocation.value("--sender-key-file") {
            for name in ["--signer", "--store", "--from", "--passphrase-file"] where invocation.flag(name) {
                throw .usage(
                    "--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
            }
            self = .key(.key(try console.readSenderKey(from: source)))
        } else if let address = invocation.value("--signer") {
            try invocation.atMostOne(of: "--signer", "--from")
            let signer = try EnvelopeSigner(at: address, invocation, console)
            // A container with a signer has no store, unless it says so.
            self =
                invocation.flag("--store") ? .store(try console.openStore(invocation), .signer(signer)) : .key(signer)
        } else {
            self = .store(try console.openStore(invocation), .named(invocation.value("--from")))
        }
    }

    /// Reads the keys as they are now.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer): SealingKeys(signer)
        case .store(let store, let sender): try SealingKeys(of: store, sender)
        }
    }

    /// Reads the keys for one thread of a batch, which follow the store's changes.
    func followingKeys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let signer): SealingKeys(signer)
        case .store(let store, let sender): try SealingKeys(following: store, sender)
        }
    }
}

extension Invocation {
    /// How many threads seal unless the command line says: a signer elsewhere is waited for by more than have work to do.
    var usualSealingJobs: Int { flag("--signer") ? max(4, Processors.count) : Processors.count }
}

extension EnvelopeSigner {
    private static let scheme = "unix:"

    /// Connects to where the command line says, compares the key if it names one, and has the one signature made that all
    /// threads share.
    fileprivate init(at address: String, _ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("--signer cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        let signer = try withSigner { () throws(SigningError) in
            try SocketSigner(
                path: String(address.dropFirst(Self.scheme.count)),
                threads: invocation.count("--jobs") ?? invocation.usualSealingJobs,
                timeout: invocation.milliseconds("--signer-timeout") ?? SocketSigner.standardTimeout)
        }
        try signer.checkKey(invocation, console)
        self = try withSigner { () throws(SigningError) in try EnvelopeSigner(signer) }
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
    /// Compares the key with the one that the command line names.
    fileprivate func checkKey(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        guard let text = invocation.value("--signer-key") else {
            // A false signer is noticed by nobody here: its signatures are good ones, under a key of its own.
            return console.warning(
                "the signer's key is \(publicKey), and nobody says that it must be: add --signer-key with that key")
        }
        let expected: SenderPublicKey
        do throws(KeyError) {
            expected = try SenderPublicKey(text: text)
        } catch {
            throw CommandFailure(error, inOption: "--signer-key")
        }
        guard publicKey == expected else {
            throw .usage(
                "the signer has another key than --signer-key: \(publicKey)",
                hint: "no phone that trusts \(expected) would open what it signs; see that the socket is the right one")
        }
    }
}
