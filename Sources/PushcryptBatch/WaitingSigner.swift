public import Pushcrypt

// In a task these take the place of the functions of the same name that wait.
extension Sealer {
    /// Creates a sealer whose key may be in a key service. It blocks no thread of Swift's pool while the signer works.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    public init(
        signer: any MessageSigner, topic: Topic, placeholder: Placeholder = .standard
    ) async throws(SigningError) {
        let made = await onSystemThread {
            Result { () throws(SigningError) in
                try Sealer(signer: signer, topic: topic, placeholder: placeholder)
            }
        }
        self = try made.get()
    }

    /// Seals many messages, and gives a result for each, in order: one that is refused does not stop the others.
    ///
    /// A signer outside this process is asked once for every 256 messages, on a separate thread.
    public func seal(_ messages: [Message]) async -> [Result<SealedPayload, SealError>] {
        // In a closure without `await` it is the function that waits.
        let waiting = { @Sendable () -> [Result<SealedPayload, SealError>] in self.seal(messages) }
        return waitsForSigner ? await onSystemThread(waiting) : waiting()
    }
}

/// Signs the waiting messages on a separate thread.
private func onSystemThread<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let code = SystemThread.start { continuation.resume(returning: work()) }
        // Where the system has no thread left, a thread of the pool has to wait.
        if code != 0 { continuation.resume(returning: work()) }
    }
}
