extension Sealer {
    /// One of many messages: the arguments of `seal` for a single message.
    public struct Message: Sendable {
        /// The APNs payload as UTF-8 JSON.
        public var payload: ContiguousArray<UInt8>
        /// The sealed and stored files that belong to the message, at most 8.
        public var attachments: [AttachmentReference] = []
        /// The sealed and stored body, if it is too long for a push.
        public var fullBody: FullBody?
        /// The person that the notification is from, for a communication notification.
        public var from: CommunicationSender?
        /// The device's registered key.
        public var recipient: DevicePublicKey
        /// The present time.
        public var now: Timestamp
        /// The options for this message.
        public var options: Options

        /// Creates a message from a payload for one device.
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

    /// The maximum number of signatures in one request to an external signer.
    package static let signaturesAtOnce = ExternalSigner.maximumBatch

    /// Whether sealing waits for an external signer.
    package var waitsForSigner: Bool {
        if case .external = envelopes.signer.kind { true } else { false }
    }

    /// Seals many messages, and returns a result for each, in order. A refused message does not affect the others.
    ///
    /// An external signer is asked once per 256 messages instead of once per message. Messages that it does not sign
    /// have the error `signingFailed`. With a key in this process, this is the same as sealing one message after the
    /// other.
    public func seal(_ messages: [Message]) -> [Result<SealedPayload, SealError>] {
        switch envelopes.signer.kind {
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

    package func seal(_ message: Message) throws(SealError) -> SealedPayload {
        try seal(
            bytes: message.payload, attachments: message.attachments, fullBody: message.fullBody, from: message.from,
            to: message.recipient, at: message.now, options: message.options)
    }

    private func seal(
        _ messages: ArraySlice<Message>, _ signer: ExternalSigner
    ) -> [Result<SealedPayload, SealError>] {
        let prepared = messages.map { message in
            Result { () throws(SealError) in
                try Waiting(
                    prepare(
                        bytes: message.payload, attachments: message.attachments, fullBody: message.fullBody,
                        from: message.from, to: message.recipient, at: message.now, options: message.options,
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
                // There are as many signatures as messages.
                return try waiting.finish(signature: signatures.removeFirst(), signer)
            }
        }
    }

    /// A message that waits for its signature; a class, because arrays cannot contain noncopyable values.
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
