internal import Pushcrypt
internal import PushcryptCommandKit

/// `--signer`, `--provider` and `--certificate`: a signer in another process.
struct SignerArguments: Sendable {
    private static let option = "--signer"

    private let address: String
    private let provider: String?
    private let certificate: String?

    init?(_ arguments: inout Arguments) {
        let address = arguments.value(
            Self.option, "ADDRESS",
            help: "the program at unix:PATH signs (Docs/SignerProtocol.md); with --store, devices come from the store")
        provider = arguments.value("--provider", "KEY", help: "with --signer: the provider key (pcs1…) that phones pin")
        certificate = arguments.value(
            "--certificate", "FILE", .input,
            help: "with --signer: the certificate of the signer's key, from 'key certify'; none at epoch 0")
        for name in ["--provider", "--certificate"] {
            arguments.option(name, needs: Self.option, hint: "add --signer unix:PATH")
        }
        arguments.option(
            "--certificate", needs: "--provider", hint: "a certificate is checked under the key that phones pin")
        guard let address else { return nil }
        self.address = address
    }

    /// Connects to the signer, and compares its key with the provider's, or with the certificate's.
    ///
    /// - Parameters:
    ///   - threads: The number of threads that will request signatures at once.
    ///   - timeout: The value of `--signer-timeout`.
    ///   - topic: The app of the certificate.
    func connect(
        threads: Int, timeout: Int?, topic: Topic?, _ console: Console
    ) throws(CommandFailure) -> EnvelopeSigner {
        let expected = try provider.map { (text) throws(CommandFailure) in
            try ProviderPublicKey(text, inOption: "--provider")
        }
        let certificate = try self.certificate.map { (file) throws(CommandFailure) in
            try console.readCertificate(from: file)
        }
        let signer = try SocketSigner(at: address, option: Self.option, threads: threads, timeout: timeout)
        guard let expected, let certificate else {
            let envelopes = try withSigningErrors { () throws(SigningError) in try EnvelopeSigner.connect(to: signer) }
            try check(envelopes.providerKey, expected, console)
            return envelopes
        }
        guard let topic else {
            throw .usage("--topic is missing", hint: "a certificate is for one app: add --topic with its bundle id")
        }
        do {
            return try EnvelopeSigner.connect(to: signer, provider: expected, certificate: certificate, for: topic)
        } catch let error as TrustError {
            throw CommandFailure(error, in: "--certificate")
        } catch let error as SigningError {
            throw CommandFailure(error)
        } catch {
            preconditionFailure("signers throw nothing else")
        }
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
                hint: "check that the socket is the right one, and add --certificate from the first rotation on")
        }
    }
}

extension SocketSigner {
    private static let scheme = "unix:"

    /// Connects to the signer that an option names.
    convenience init(
        at address: String, option: String, threads: Int, timeout: Int?
    ) throws(CommandFailure) {
        guard address.hasPrefix(Self.scheme), address != Self.scheme else {
            throw .usage("\(option) cannot be \(quoted(address))", hint: "write for example unix:/run/signer.sock")
        }
        do throws(SigningError) {
            try self.init(
                path: String(address.dropFirst(Self.scheme.count)), threads: threads,
                timeout: timeout ?? Self.standardTimeout)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension ProviderPublicKey {
    /// Reads the value of an option.
    init(_ text: String, inOption name: String) throws(CommandFailure) {
        do throws(KeyError) {
            self = try ProviderPublicKey(text: text)
        } catch {
            throw CommandFailure(error, inOption: name)
        }
    }
}

extension Console {
    private static let maximumCertificate = 4096

    /// Reads a certificate: its text, or the file of `key certify`.
    func readCertificate(from file: String) throws(CommandFailure) -> Certificate {
        let bytes = try read(file, limit: Self.maximumCertificate)
        let place = file == "-" ? "standard input" : quoted(file)
        return try withTrustErrors(in: place) { () throws(TrustError) in
            if bytes.first == UInt8(ascii: "{") { return try SignedCertificate(json: bytes).certificate }
            let line = bytes.last == newline ? bytes.dropLast() : bytes[...]
            return try Certificate(text: String(decoding: line, as: UTF8.self))
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
