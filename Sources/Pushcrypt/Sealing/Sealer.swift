/// Seals APNs payloads for the devices of one app.
///
/// Create one value for each app; any number of threads may use it at the same time. It keeps no state between
/// messages. (`Docs/Format.md`)
public struct Sealer: Sendable {
    /// The clear part, which a phone shows if it cannot open a notification.
    public let placeholder: Placeholder

    let signer: EnvelopeSigner
    let topic: Topic
    private let clearParts: ClearParts
    private let answerSecret: AnswerSecret?

    /// Creates a sealer of epoch 0 for one app, with the provider key in this process.
    public init(
        provider: ProviderKey, topic: Topic, placeholder: Placeholder = .standard, answers: AnswerSecret? = nil
    ) {
        self.init(signer: EnvelopeSigner(provider), topic: topic, placeholder: placeholder, answers: answers)
    }

    /// Creates a sealer for one app.
    ///
    /// A signer whose certificate is for another app is a programming error and traps. `answers` is the app's answer secret,
    /// for messages that users may answer.
    public init(
        signer: EnvelopeSigner, topic: Topic, placeholder: Placeholder = .standard, answers: AnswerSecret? = nil
    ) {
        precondition(signer.topic ?? topic == topic, "the signer's certificate is for another app")
        (self.signer, self.topic, self.placeholder) = (signer, topic, placeholder)
        clearParts = ClearParts(placeholder)
        answerSecret = answers
    }

    /// Seals a message for one device.
    ///
    /// The content is encrypted to the device and signed by the provider. The relay learns the size bucket, the device
    /// and the time. The caller sends the result unchanged.
    ///
    /// - Parameters:
    ///   - message: The payload, and how it is sealed.
    ///   - device: The device's registered key.
    ///   - now: The present time.
    /// - Throws: `SealError`, with any code.
    public func seal(
        _ message: Message, to device: DevicePublicKey, at now: Timestamp
    ) throws(SealError) -> SealedPayload {
        try seal(message, to: device, at: now, Randomness())
    }

    /// Seals with given randomness, for tests with known answers.
    func seal(
        _ message: Message, to device: DevicePublicKey, at now: Timestamp, _ random: consuming Randomness
    ) throws(SealError) -> SealedPayload {
        let pushClass = try message.check(for: device, signer.certificate, at: now)
        let payload = try CheckedPayload(message.payload, for: message.pushType)
        let clear = clearParts.part(for: payload, message.pushType)
        let (named, answer) = try identity(of: message, random, to: device, at: now)
        let body = try MessageBody(
            payload, ReservedMember(message: message, answer: answer), beside: signer.certificate, in: clear,
            message.limit(device.suite))
        let id = named ?? hedgedID(of: body.bytes.span, at: now, random)
        let life = message.sealedTimeToLive(at: now)
        let inner = InnerPlaintext(
            body.bytes.span, bucket: body.bucket, pushClass, id, sentAt: now, timeToLive: life,
            by: signer)
        let envelope = try envelope(of: inner, to: device, random)
        return SealedPayload(
            clear, envelope, id, message, to: device, until: now.adding(life), shortened: body.shortened)
    }

    /// Returns the id that the message's name determines, and the key for its receiver's answer.
    private func identity(
        of message: Message, _ random: borrowing Randomness, to device: DevicePublicKey, at now: Timestamp
    ) throws(SealError) -> (MessageID?, AnswerKey?) {
        let named = try message.id()
        guard message.isAnswerable else { return (named, nil) }
        guard let answerSecret else {
            preconditionFailure("an answerable message needs a sealer with an answer secret")
        }
        // The answer key depends on the id, so the id cannot depend on the whole body.
        let id = named ?? hedgedID(of: message.payload.span, at: now, random)
        do throws(SodiumRefusal) {
            return (id, try answerSecret.key(of: id, sentAt: now, to: device, topic))
        } catch {
            throw SealError(unusableKey: device.id)
        }
    }

    /// Signs and encrypts. (`Docs/Format.md`, Construction)
    func envelope(
        of inner: consuming InnerPlaintext, to device: DevicePublicKey, _ random: borrowing Randomness
    ) throws(SealError) -> Envelope {
        defer { Sodium.wipeStack() }
        var envelope = Envelope.header(for: device, bucket: inner.bucket)
        do throws(SodiumRefusal) {
            let content = inner.contentHash
            let share = try encapsulate(to: device, envelope.span, contentHash: content, random)
            inner.sign(
                signedMessage(
                    header: envelope.span, enc: share.enc.span, device.suite, recipient: device.transcript,
                    by: SignedBy(provider: signer.providerKey, signing: signer.publicKey, epoch: signer.epoch),
                    topic: topic, contentHash: content), by: signer)
            let info = envelopeInfo(header: envelope.span, topic: topic)
            let context = try HPKEContext(.of(device.suite), sharedSecret: share.sharedSecret, info: info.span)
            envelope.append(contentsOf: share.enc)
            try inner.encrypt(with: context, appendingTo: &envelope)
            return Envelope(sealed: envelope, device.suite)
        } catch {
            throw SealError(unusableKey: device.id)
        }
    }
}
