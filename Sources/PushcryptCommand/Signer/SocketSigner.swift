internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// A signer in another process, behind a Unix socket. (`Docs/SignerProtocol.md`)
///
/// Any number of threads may ask at once, each over a connection of its own.
final class SocketSigner: MessageSigner {
    /// How many messages may wait for their signatures, over all connections.
    static let maximumInFlight = 256
    /// How long a signer may be silent unless the caller says otherwise, in milliseconds.
    static let standardTimeout = 10_000

    let publicKey: SenderPublicKey

    private let path: String
    private let timeout: UInt64
    private let window: Int
    private let idle = Locked(IdleConnections())

    /// The connections that no thread is using.
    private final class IdleConnections {
        var all: [SignerConnection] = []
    }

    /// Connects and asks for the public key.
    ///
    /// - Parameters:
    ///   - threads: how many threads will ask at the same time.
    ///   - timeout: how many milliseconds the signer may be silent.
    /// - Throws: `signerUnavailable`, `signerTimedOut`, `signerRefused`; `wrongSignature` for a public key that none can be.
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
        let bytes = try answers[0].body(length: SenderPublicKey.length, path)
        do throws(KeyError) {
            publicKey = try SenderPublicKey(bytes: bytes.span)
        } catch {
            throw SigningError(
                .signerUnavailable, "the signer at \(quoted(path)) has a public key that no sender has: \(error)")
        }
        put(connection)
    }

    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>] {
        var answers = [SignerFrames.Reply?](repeating: nil, count: messages.count)
        do throws(SignerConnection.Failure) {
            try ask(messages, &answers)
        } catch {
            // A signer that was started anew has closed its connections: a new one, once, for what was not answered.
            guard case .ended = error else { throw SigningError(error, path) }
            idle.withLock { $0.all.removeAll() }
            do throws(SignerConnection.Failure) {
                try ask(messages, &answers)
            } catch {
                throw SigningError(error, path)
            }
        }
        var signatures: [ContiguousArray<UInt8>] = []
        signatures.reserveCapacity(messages.count)
        for answer in answers { signatures.append(try answer.body(length: SenderPublicKey.signatureLength, path)) }
        return signatures
    }

    private func ask(
        _ messages: [ContiguousArray<UInt8>], _ answers: inout [SignerFrames.Reply?]
    ) throws(SignerConnection.Failure) {
        let connection = try take()
        try connection.exchange(.sign, messages, window: window, answers: &answers)
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

extension Optional<SignerFrames.Reply> {
    /// What a signer answered, if it is of the length that it must be.
    fileprivate func body(length: Int, _ path: String) throws(SigningError) -> ContiguousArray<UInt8> {
        guard let reply = self else { throw SigningError(.ended(.connectionEnded), path) }
        guard reply.status == .done else {
            let reason = String(decoding: reply.body, as: UTF8.self)
            throw SigningError(
                .signerRefused, "the signer at \(quoted(path)) refused: \(quoted(reason)); look at its log")
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
                "the signer at \(quoted(path)) cannot be reached: \(error.text); start it, and see that you may use its socket"
            )
        case .timedOut:
            self.init(
                .signerTimedOut,
                "the signer at \(quoted(path)) did not answer in time; see that it is not overloaded, or give it longer with --signer-timeout"
            )
        case .malformedReply:
            self.init(
                .signerUnavailable,
                "the signer at \(quoted(path)) answers in another language than Docs/SignerProtocol.md; see that the socket is the right one"
            )
        }
    }
}
