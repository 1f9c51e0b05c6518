internal import Pushcrypt
internal import PushcryptCommandKit

/// The options for a signer in another process.
struct SignerArguments: Sendable {
    private static let scheme = "unix:"

    private let option: String
    private let address: String
    private let key: String?

    /// `--signer`, for messages of a key that receivers trust already.
    init?(_ arguments: inout Arguments, help: String) {
        self.init(
            &arguments, "--signer", help: help,
            keyHelp: "the public key (pcs1…) that the signer must have; otherwise a warning shows its key")
    }

    /// `--new-signer`, for a key that receivers will trust; its key must be given.
    init?(newIn arguments: inout Arguments, help: String) {
        self.init(
            &arguments, "--new-signer", isKeyRequired: true, help: help,
            keyHelp: "the public key (pcs1…) that the new signer must have")
    }

    private init?(
        _ arguments: inout Arguments, _ option: String, isKeyRequired: Bool = false, help: String, keyHelp: String
    ) {
        let address = arguments.value(option, "ADDRESS", help: help)
        key = arguments.value(option + "-key", "KEY", help: keyHelp)
        arguments.option(option + "-key", needs: option, hint: "add \(option) unix:PATH")
        if isKeyRequired {
            arguments.option(
                option, needs: option + "-key", hint: "phones will trust that key: ask the key service for it")
        }
        guard let address else { return nil }
        self.option = option
        self.address = address
    }

    /// Connects to the signer, and compares its key with the expected one.
    ///
    /// - Parameters:
    ///   - threads: The number of threads that will request signatures at once.
    ///   - timeout: The value of `--signer-timeout`.
    func connect(threads: Int, timeout: Int?, _ console: Console) throws(CommandFailure) -> SocketSigner {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("\(option) cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        let expected: ProviderPublicKey?
        do throws(KeyError) {
            expected = try key.map { (text) throws(KeyError) in try ProviderPublicKey(text: text) }
        } catch {
            throw CommandFailure(error, inOption: option + "-key")
        }
        let signer = try withSigningErrors { () throws(SigningError) in
            try SocketSigner(
                path: String(address.dropFirst(Self.scheme.count)), threads: threads,
                timeout: timeout ?? SocketSigner.standardTimeout)
        }
        try check(signer.publicKey, expected, console)
        return signer
    }

    private func check(
        _ key: ProviderPublicKey, _ expected: ProviderPublicKey?, _ console: Console
    ) throws(CommandFailure) {
        guard let expected else {
            // A false signer would not be noticed: its signatures are valid under its own key.
            return console.warning("the signer's key, \(key), is not checked: add \(option)-key with that key")
        }
        guard key == expected else {
            throw .usage(
                "the signer has another key than \(option)-key: \(key)",
                hint: "check that the socket is the right one")
        }
    }
}

extension Arguments {
    /// `--signer-timeout`, in milliseconds.
    mutating func signerTimeout() -> Int? {
        milliseconds(
            "--signer-timeout", "TIME", 1...600_000,
            help: "how long the signer may be silent (default 10s); a group of messages may take three times as long")
    }
}
