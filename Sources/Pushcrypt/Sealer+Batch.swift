extension Sealer {
    /// One message among many: what `seal` takes for one.
    public struct Message: Sendable {
        /// The APNs payload as UTF-8 JSON.
        public var payload: ContiguousArray<UInt8>
        /// Sealed files that were stored before, at most 8.
        public var attachments: [AttachmentReference] = []
        /// A body that was sealed and stored before, because it is too long for a push.
        public var fullBody: FullBody?
        /// The device's registered key.
        public var recipient: DevicePublicKey
        /// The time of sealing.
        public var now: Timestamp
        /// How it is sealed.
        public var options: Options

        /// Takes a payload and a device.
        public init(
            _ payload: some Sequence<UInt8>, to recipient: DevicePublicKey, at now: Timestamp,
            options: Options = Options()
        ) {
            self.payload = ContiguousArray(payload)
            self.recipient = recipient
            self.now = now
            self.options = options
        }
    }

    /// The most signatures that a signer outside this process is asked for at once.
    package static let signaturesAtOnce = ExternalSigner.maximumBatch

    /// Sealing asks a signer outside this process, and waits for it.
    package var waitsForSigner: Bool {
        if case .external = envelopes.signer { true } else { false }
    }

    /// Seals many messages, and gives a result for each, in order: one that is refused does not stop the others.
    ///
    /// A signer outside this process is asked once for every 256 messages, so that its answers need not be waited for one
    /// after the other. What it fails to sign has the code `signingFailed`. With a key in this process it is the same as sealing
    /// one after the other.
    public func seal(_ messages: [Message]) -> [Result<SealedPayload, SealError>] {
        switch envelopes.signer {
        case .key:
            return messages.map { message in Result { () throws(SealError) in try seal(message) } }
        case .external(let signer):
            var results: [Result<SealedPayload, SealError>] = []
            results.reserveCapacity(messages.count)
            for start in stride(from: 0, to: messages.count, by: ExternalSigner.maximumBatch) {
                let end = min(start + ExternalSigner.maximumBatch, messages.count)
                results += seal(messages[start..<end], signer)
            }
            return results
        }
    }

    /// Seals one message as it would be among many.
    package func seal(_ message: Message) throws(SealError) -> SealedPayload {
        try seal(
            bytes: message.payload, attachments: message.attachments, fullBody: message.fullBody, to: message.recipient,
            at: message.now, options: message.options)
    }

    private func seal(
        _ messages: ArraySlice<Message>, _ signer: ExternalSigner
    ) -> [Result<SealedPayload, SealError>] {
        let prepared = messages.map { message in
            Result { () throws(SealError) in
                try Waiting(
                    prepare(
                        bytes: message.payload, attachments: message.attachments, fullBody: message.fullBody,
                        to: message.recipient, at: message.now, options: message.options,
                        randomness: EnvelopeSealer.Randomness()))
            }
        }
        let toSign = prepared.compactMap { try? $0.get().toSign }
        var signatures: ArraySlice<ContiguousArray<UInt8>> = []
        var failure: SigningError?
        do throws(SigningError) {
            if !toSign.isEmpty { signatures = try signer.signatures(of: toSign)[...] }
        } catch {
            failure = error
        }
        return prepared.map { prepared in
            Result { () throws(SealError) in
                let waiting = try prepared.get()
                if let failure { throw SealError(failure) }
                // There are as many as were asked for.
                return try waiting.finish(signature: signatures.removeFirst(), signer)
            }
        }
    }

    /// A message whose signature is being made; a class, because arrays hold nothing that cannot be copied.
    private final class Waiting {
        let toSign: ContiguousArray<UInt8>
        private var payload: PreparedPayload?

        init(_ payload: consuming PreparedPayload) {
            toSign = payload.toSign
            self.payload = consume payload
        }

        func finish(
            signature: ContiguousArray<UInt8>, _ signer: ExternalSigner
        ) throws(SealError) -> SealedPayload {
            do throws(SigningError) {
                try signer.check(signature, of: toSign)
            } catch {
                throw SealError(error)
            }
            guard let payload = payload.take() else { preconditionFailure("a message is finished once") }
            return try payload.finish(signature: signature)
        }
    }
}
