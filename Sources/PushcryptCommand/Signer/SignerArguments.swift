internal import Pushcrypt
internal import PushcryptCommandKit

/// The options for a signer in another process.
struct SignerArguments: Sendable {
    private static let scheme = "unix:"

    private static let option = "--signer"

    private let address: String
    private let provider: String?

    init?(_ arguments: inout Arguments) {
        let address = arguments.value(
            Self.option, "ADDRESS",
            help: "the program at unix:PATH signs (Docs/SignerProtocol.md); with --store, devices come from the store")
        provider = arguments.value(
            "--provider", "KEY", help: "the provider's public key (pcs1…), which the signer must have")
        arguments.option("--provider", needs: Self.option, hint: "add --signer unix:PATH")
        guard let address else { return nil }
        self.address = address
    }

    /// Connects to the signer, and compares its key with the expected one.
    ///
    /// - Parameters:
    ///   - threads: The number of threads that will request signatures at once.
    ///   - timeout: The value of `--signer-timeout`.
    func connect(threads: Int, timeout: Int?, _ console: Console) throws(CommandFailure) -> SocketSigner {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("\(Self.option) cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        let expected: ProviderPublicKey?
        do throws(KeyError) {
            expected = try provider.map { (text) throws(KeyError) in try ProviderPublicKey(text: text) }
        } catch {
            throw CommandFailure(error, inOption: "--provider")
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
            return console.warning("the signer's key, \(key), is not checked: add --provider with that key")
        }
        guard key == expected else {
            throw .usage(
                "the signer has another key than --provider: \(key)",
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
