internal import Pushcrypt
internal import PushcryptCommandKit

/// A program that signs with a provider key, which stays in a key service. (`Docs/Keys.md`, A key service)
///
/// It is run without arguments, gets the bytes to sign on its standard input, and writes the 64 bytes of the signature.
struct ProviderSigner {
    static let option = "--provider-signer"

    let program: String
    /// The provider key that it must have.
    let provider: ProviderPublicKey
    /// The milliseconds that it may take.
    var timeout: UInt64 = 60_000

    /// Has the program prove that it has the key.
    func prove() throws {
        let challenge = ProviderChallenge(to: provider)
        guard challenge.isMet(by: try signature(of: challenge.message)) else { throw otherKey }
    }

    /// Has a certificate signed.
    func sign(_ certificate: UnsignedCertificate) throws -> Certificate {
        let signature = try signature(of: certificate.message)
        do { return try certificate.signed(signature) } catch { throw otherKey }
    }

    /// Returns 64 bytes, which the caller verifies.
    private func signature(of message: ContiguousArray<UInt8>) throws -> ContiguousArray<UInt8> {
        let result: ChildProcess.Result
        do {
            result = try ChildProcess.run(program, [], input: message.span, limit: Self.maximumOutput, timeout: timeout)
        } catch {
            throw Failure.usage(
                "\(Self.option): cannot run \(quoted(program)): \(error.text)",
                hint: "it is one word, a program of the PATH or a path with a slash such as ./signer, without arguments"
            )
        }
        if result.isLate {
            throw failure("took longer than \(durationText(Int(timeout), units: millisecondUnits))", result)
        }
        guard result.output.count <= Self.maximumOutput else {
            throw failure("wrote far more than a signature", result)
        }
        guard let exit = result.exit else { throw failure("was ended by a signal", result) }
        guard exit == 0 else { throw failure("ended with \(exit)", result) }
        let length = ProviderPublicKey.signatureLength
        guard result.output.count == length else {
            throw failure("wrote \(result.output.count) bytes, and a signature has \(length)", result)
        }
        return result.output
    }

    /// The most that is read of its output, and of its standard error.
    private static let maximumOutput = 4096

    /// A failure, with what the program says about it.
    private func failure(_ what: String, _ result: ChildProcess.Result) -> Failure {
        let words = String(decoding: result.messages.prefix(Self.maximumOutput), as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        return .failed("\(Self.option): \(quoted(program)) \(what)" + (words.isEmpty ? "" : ": \(words)"))
    }

    private var otherKey: Failure {
        .usage(
            "\(Self.option): what \(quoted(program)) wrote is not the signature of provider key \(provider)",
            hint: "check which key it has, and that it signs the bytes as they are with Ed25519, not a hash of them")
    }
}

extension Arguments {
    /// `--provider-signer`.
    mutating func providerSigner() -> String? {
        value(
            ProviderSigner.option, "PROGRAM", .file,
            help: "run this program, which has the provider key: bytes to sign in, 64 bytes of signature out")
    }
}

extension ProviderPublicKey {
    /// Reads the value of an option.
    init(_ text: String, inOption name: String) throws {
        self = try naming(name, exit: .usage) { try ProviderPublicKey(text: text) }
    }
}
