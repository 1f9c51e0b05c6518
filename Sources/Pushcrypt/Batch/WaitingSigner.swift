// In a task, these replace the blocking functions of the same names.
extension EnvelopeSigner {
    /// Connects to a signer without blocking a thread of Swift's pool: asks it for one signature, and checks the
    /// signature.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    public static func connect(to signer: any MessageSigner) async throws(SigningError) -> EnvelopeSigner {
        let connected = await onSystemThread {
            // In a closure without `await`, this is the blocking function.
            Result { () throws(SigningError) in try EnvelopeSigner.connect(to: signer) }
        }
        return try connected.get()
    }

    /// Connects to a signer that has a signing key, without blocking a thread of Swift's pool.
    ///
    /// - Throws: `TrustError` or `SigningError`, like the blocking variant.
    public static func connect(
        to signer: any MessageSigner, provider: ProviderPublicKey, certificate: Certificate, for topic: Topic
    ) async throws -> EnvelopeSigner {
        let connected = await onSystemThread {
            Result { try EnvelopeSigner.connect(to: signer, provider: provider, certificate: certificate, for: topic) }
        }
        return try connected.get()
    }
}

extension Sealer {
    /// Seals many messages, and returns a result for each, in order. A refused message does not affect the others.
    ///
    /// An external signer is asked once per 256 messages, on a separate thread.
    public func seal(_ messages: [Message]) async -> [Result<SealedPayload, SealError>] {
        // In a closure without `await`, this is the blocking function.
        let waiting = { @Sendable () -> [Result<SealedPayload, SealError>] in self.seal(messages) }
        return waitsForSigner ? await onSystemThread(waiting) : waiting()
    }
}

/// Runs blocking work on a separate thread.
private func onSystemThread<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let code = SystemThread.start { continuation.resume(returning: work()) }
        // Without a free thread, a thread of the pool has to block.
        if code != 0 { continuation.resume(returning: work()) }
    }
}
