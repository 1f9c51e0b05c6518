internal import Pushcrypt
internal import PushcryptCommandKit

/// The options for a signer in another process.
struct SignerArguments: Sendable {
    private static let scheme = "unix:"

    private let option: String
    private let address: String
    private let key: String?
    /// In milliseconds.
    private let timeout: Int?

    /// Nil if the option was not given.
    ///
    /// - Parameters:
    ///   - option: The option's name; that of its key begins with it.
    ///   - timeout: The value of `--signer-timeout`.
    init?(_ arguments: inout Arguments, _ option: String = "--signer", timeout: Int?, help: String) {
        let address = arguments.value(option, "ADDRESS", help: help)
        key = arguments.value(
            option + "-key", "KEY",
            help: "the public key (pcs1…) that the signer must have; otherwise a warning shows its key")
        arguments.option(option + "-key", needs: option, hint: "add \(option) unix:PATH")
        guard let address else { return nil }
        self.option = option
        self.address = address
        self.timeout = timeout
    }

    /// Connects to the signer, and compares its key with the expected one.
    ///
    /// - Parameter threads: The number of threads that will request signatures at once.
    func connect(threads: Int, _ console: Console) throws(CommandFailure) -> SocketSigner {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("\(option) cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        let expected: SenderPublicKey?
        do throws(KeyError) {
            expected = try key.map { (text) throws(KeyError) in try SenderPublicKey(text: text) }
        } catch {
            throw CommandFailure(error, inOption: option + "-key")
        }
        let signer = try withSigner { () throws(SigningError) in
            try SocketSigner(
                path: String(address.dropFirst(Self.scheme.count)), threads: threads,
                timeout: timeout ?? SocketSigner.standardTimeout)
        }
        try check(signer.publicKey, expected, console)
        return signer
    }

    private func check(
        _ key: SenderPublicKey, _ expected: SenderPublicKey?, _ console: Console
    ) throws(CommandFailure) {
        guard let expected else {
            // A false signer would not be noticed: its signatures are valid under its own key.
            return console.warning("the signer's key, \(key), is not checked: add \(option)-key with that key")
        }
        guard key == expected else {
            throw .usage(
                "the signer has another key than \(option)-key: \(key)",
                hint:
                    "no phone that trusts \(expected) would open what it signs; check that the socket is the right one")
        }
    }
}

/// Turns errors of signers into failures of a command.
func withSigner<R>(_ body: () throws(SigningError) -> R) throws(CommandFailure) -> R {
    do throws(SigningError) {
        return try body()
    } catch {
        throw CommandFailure(error)
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
