internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// A signer in another process, behind a Unix socket. (`Docs/SignerProtocol.md`)
///
/// Any number of threads may request signatures at once, each over a separate connection.
final class SocketSigner: MessageSigner {
    /// The most messages that may wait for their signatures, over all connections.
    static let maximumInFlight = 256
    /// How long a signer may be silent by default, in milliseconds.
    static let standardTimeout = 10_000

    /// The key that signs, a provider's or a signing key.
    let publicKey: ContiguousArray<UInt8>

    private let path: String
    private let timeout: UInt64
    private let window: Int
    private let idle = Locked(IdleConnections())

    /// The connections that no thread is using.
    private final class IdleConnections {
        var all: [SignerConnection] = []
    }

    /// Connects and requests the public key.
    ///
    /// - Parameters:
    ///   - threads: The number of threads that will request signatures at once.
    ///   - timeout: How long the signer may be silent, in milliseconds.
    /// - Throws: `signerUnavailable`, also for an invalid public key, `signerTimedOut` or `signerRefused`.
    init(path: String, threads: Int, timeout: Int) throws(SigningError) {
        self.path = path
        self.timeout = UInt64(clamping: timeout)
        window = max(1, Self.maximumInFlight / max(1, threads))
        var answers: [SignerFrames.Reply?] = [nil]
        let connection: SignerConnection
        do throws(SignerConnection.Failure) {
            connection = try SignerConnection(to: path, timeout: self.timeout)
            try connection.exchange(.publicKey, [SignerFrames.greeting], window: 1, answers: &answers)
        } catch {
            throw SigningError(error, path)
        }
        let key = try answers[0].body(length: ProviderPublicKey.length, path)
        publicKey = key
        do throws(KeyError) {
            _ = try SigningPublicKey(bytes: key.span)
        } catch {
            throw SigningError(
                .signerUnavailable, "the signer at \(quoted(path)) has an invalid public key: \(error)")
        }
        put(connection)
    }

    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>] {
        try sign(.sign, messages)
    }

    /// Has a certificate signed, which few signers do.
    func sign(certificate message: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8> {
        try sign(.signCertificate, [message])[0]
    }

    private func sign(
        _ kind: SignerFrames.Kind, _ messages: [ContiguousArray<UInt8>]
    ) throws(SigningError) -> [ContiguousArray<UInt8>] {
        var answers = [SignerFrames.Reply?](repeating: nil, count: messages.count)
        do throws(SignerConnection.Failure) {
            try ask(kind, messages, &answers)
        } catch {
            // A signer that was restarted has closed its connections: try once more for what was not answered.
            guard case .ended = error else { throw SigningError(error, path) }
            idle.withLock { $0.all.removeAll() }
            do throws(SignerConnection.Failure) {
                try ask(kind, messages, &answers)
            } catch {
                throw SigningError(error, path)
            }
        }
        var signatures: [ContiguousArray<UInt8>] = []
        signatures.reserveCapacity(messages.count)
        for answer in answers { signatures.append(try answer.body(length: ProviderPublicKey.signatureLength, path)) }
        return signatures
    }

    private func ask(
        _ kind: SignerFrames.Kind, _ messages: [ContiguousArray<UInt8>], _ answers: inout [SignerFrames.Reply?]
    ) throws(SignerConnection.Failure) {
        let connection = try take()
        try connection.exchange(kind, messages, window: window, answers: &answers)
        put(connection)
    }

    private func take() throws(SignerConnection.Failure) -> SignerConnection {
        if let connection = idle.withLock({ $0.all.popLast() }) { return connection }
        return try SignerConnection(to: path, timeout: timeout)
    }

    private func put(_ connection: SignerConnection) {
        idle.withLock { $0.all.append(connection) }
    }
}

/// A signer of certificates: the one at a socket, under the provider key that it must have.
struct SocketCertificateSigner: CertificateSigner {
    let signer: SocketSigner
    let providerKey: ProviderPublicKey

    func sign(certificate message: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8> {
        try signer.sign(certificate: message)
    }
}

extension Optional<SignerFrames.Reply> {
    /// The body of a reply, if it has the required length.
    fileprivate func body(length: Int, _ path: String) throws(SigningError) -> ContiguousArray<UInt8> {
        guard let reply = self else { throw SigningError(.ended(.connectionEnded), path) }
        guard reply.status == .done else {
            let reason = String(decoding: reply.body, as: UTF8.self)
            throw SigningError(
                .signerRefused, "the signer at \(quoted(path)) refused: \(quoted(reason)); see its log")
        }
        guard reply.body.count == length else { throw SigningError(.malformedReply, path) }
        return reply.body
    }
}

extension SigningError {
    fileprivate init(_ failure: SignerConnection.Failure, _ path: String) {
        switch failure {
        case .ended(let error):
            self.init(
                .signerUnavailable,
                "the signer at \(quoted(path)) cannot be reached: \(error.text); start it, and check that you may use its socket"
            )
        case .timedOut:
            self.init(
                .signerTimedOut,
                "the signer at \(quoted(path)) did not answer in time; check that it is not overloaded, or allow more time with --signer-timeout"
            )
        case .malformedReply:
            self.init(
                .signerUnavailable,
                "the signer at \(quoted(path)) does not follow Docs/SignerProtocol.md; check that the socket is the right one"
            )
        }
    }
}
