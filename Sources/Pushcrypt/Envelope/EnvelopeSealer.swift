/// Seals one body into an envelope. (`Docs/Format.md`, Construction; `Docs/FormatNotes.md`, Randomness)
///
/// It does not interpret the body; `Sealer` does. No key of a message is used for another.
struct EnvelopeSealer: Sendable {
    let signer: EnvelopeSigner
    let topic: Topic

    /// The metadata of one message.
    struct Message {
        let pushClass: PushClass
        let sentAt: Timestamp
        let timeToLive: UInt32
        /// Nil for a new id.
        let id: MessageID?
    }

    /// The random bytes for one message: fresh, except in tests.
    struct Randomness: ~Copyable {
        let messageID: Ephemeral
        let ephemeral: Ephemeral

        /// Creates fresh random bytes.
        init() {
            messageID = Ephemeral(randomCount: 32)
            ephemeral = Ephemeral(randomCount: 32)
        }

        /// Copies given bytes, for tests with known answers.
        init(messageID: Span<UInt8>, ephemeral: Span<UInt8>) {
            self.messageID = Ephemeral(copying: messageID)
            self.ephemeral = Ephemeral(copying: ephemeral)
        }
    }

    /// Seals a body, and returns the envelope and the message's id. `body` begins with the signer's certificate, if it has
    /// one; the caller has checked that it fits into the bucket.
    func seal(
        _ body: Span<UInt8>, _ message: Message, to recipient: DevicePublicKey, bucket: Int,
        randomness: consuming Randomness
    ) throws(SodiumRefusal) -> (Envelope, MessageID) {
        defer { Sodium.wipeStack() }
        let suite = recipient.suite
        var envelope = ContiguousArray<UInt8>()
        envelope.reserveCapacity(Envelope.overhead(suite) + bucket)
        envelope.append(suite.rawValue)
        envelope.append(bigEndian: recipient.id.value)

        let id = message.id ?? hedgedMessageID(body: body, sentAt: message.sentAt, randomness.messageID)
        var inner = plaintext(body, message, id: id, bucket: bucket)
        let content = inner.withSpan { contentHash(of: $0) }
        let transcript = recipient.transcript
        let encapsulation = try hedged(
            header: envelope.span, recipient: transcript, contentHash: content, randomness.ephemeral
        ) { (ikm) throws(SodiumRefusal) in try KEM.encapsulate(to: recipient, ikm: ikm) }
        let toSign = signedMessage(
            header: envelope.span, enc: encapsulation.enc.span, suite, recipient: transcript,
            by: SignedBy(provider: signer.providerKey, signing: signer.publicKey, epoch: signer.epoch), topic: topic,
            contentHash: content)

        let signature = signer.signature(of: toSign.span)
        inner.withMutableBytes { $0.write(signature.span, at: InnerPlaintext.signature.lowerBound) }

        let info = envelopeInfo(header: envelope.span, topic: topic)
        let context = try HPKEContext(.of(suite), sharedSecret: encapsulation.sharedSecret, info: info.span)
        envelope.append(contentsOf: encapsulation.enc)
        let empty = ContiguousArray<UInt8>()
        try inner.withSpan { (inner) throws(SodiumRefusal) in
            try context.seal(inner, authenticating: empty.span, appendingTo: &envelope)
        }
        return (Envelope(sealed: envelope, suite), id)
    }

    /// Writes the inner plaintext without the signature.
    private func plaintext(_ body: Span<UInt8>, _ message: Message, id: MessageID, bucket: Int) -> Ephemeral {
        var inner = Ephemeral(count: bucket)
        inner.withMutableBytes { inner in
            inner.write(bigEndian: signer.epoch, at: InnerPlaintext.epoch.lowerBound)
            inner[InnerPlaintext.kind] =
                message.pushClass.rawValue | (signer.certificate == nil ? 0 : InnerPlaintext.Kind.hasCertificate)
            inner.write(id.bytes.span, at: InnerPlaintext.messageID.lowerBound)
            inner.write(bigEndian: message.sentAt.milliseconds, at: InnerPlaintext.sentAt.lowerBound)
            inner.write(bigEndian: message.timeToLive, at: InnerPlaintext.timeToLive.lowerBound)
            inner.write(bigEndian: UInt16(body.count), at: InnerPlaintext.bodyLength.lowerBound)
            inner.write(body, at: InnerPlaintext.body)
        }
        return inner
    }

    // MARK: Hedged randomness

    // Every value depends on fresh random bytes, on a secret key and on its purpose, so that two different messages
    // never have the same ephemeral key, even on a cloned machine or with a broken random source (RFC 8937).

    func hedgedMessageID(
        body: Span<UInt8>, sentAt: Timestamp, _ random: borrowing Ephemeral
    ) -> MessageID {
        let hmac = signer.hedged()
        hmac.update("pushcrypt/1 message id\0")
        random.withSpan { hmac.update($0) }
        hmac.update(bigEndian: sentAt.milliseconds)
        hmac.update(SHA256.digest(body).span)
        return hmac.withTag { MessageID(prefixOf: $0) }
    }

    /// Calls `encapsulate` with ikmE.
    private func hedged(
        header: Span<UInt8>, recipient: ContiguousArray<UInt8>, contentHash: ContiguousArray<UInt8>,
        _ random: borrowing Ephemeral, _ encapsulate: (Span<UInt8>) throws(SodiumRefusal) -> Encapsulation
    ) throws(SodiumRefusal) -> Encapsulation {
        let hmac = signer.hedged()
        hmac.update("pushcrypt/1 ephemeral\0")
        random.withSpan { hmac.update($0) }
        hmac.update(header)
        hmac.update(recipient.span)
        hmac.update(bigEndian: signer.epoch)
        hmac.update(topic.lengthPrefixed.span)
        // Never the signature: it covers enc, which depends on this value.
        hmac.update(contentHash.span)
        return try hmac.withTag(encapsulate)
    }
}
