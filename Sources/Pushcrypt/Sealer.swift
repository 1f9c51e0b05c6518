/// Turns the APNs payload that a provider sends today into the one to send instead.
///
/// One value for one app, made once; any number of threads may use it at the same time. It keeps no state between
/// messages. (`Docs/Format.md`)
public struct Sealer: Sendable {
    /// Whose notifications these are, and what a phone shows when it cannot open them.
    public let placeholder: Placeholder

    let envelopes: EnvelopeSealer
    private let clearParts: ClearParts

    /// How one message is sealed.
    public struct Options: Hashable, Sendable {
        /// The push type it is sent as.
        public var pushType = PushType.alert
        /// A name for the message, at least a character, the same in every retry, so that a phone shows it once; nil for a
        /// message of its own.
        public var messageName: String?
        /// For how long after sealing it is shown, in seconds, 1…2,592,000 (30 days, the default).
        public var timeToLive = Freshness.maximumTimeToLive
        /// The rotations of the sender's key that the device may not know yet, oldest first, at most 4; more is a mistake
        /// of the caller's, and traps.
        public var announcing: [RotationStatement] = []
        /// The sender hands the bytes to Apple as they are, so their own length is measured and not the widest
        /// re-encoding.
        public var isSentExactly = false
        /// The texts that may be shortened when the payload is too long, in this order; none otherwise.
        ///
        /// Each is cut between characters as far as it must be, to its first one before the next text is touched, and ends in
        /// `…`. `SealedPayload.shortened` says what is gone.
        public var fitting: [AlertText] = []

        /// The defaults: an alert, 30 days.
        public init() {}
    }

    /// Makes a sealer for one app, with the sender's key in this process.
    public init(sender: SenderKey, topic: Topic, placeholder: Placeholder = .standard) {
        self.init(.key(sender), topic: topic, placeholder: placeholder)
    }

    /// Makes a sealer for one app, with a key that may lie in a key service or a hardware module.
    ///
    /// Asks for one signature at once, over a label of its own, and keeps a key that comes of it: whoever can use the
    /// signing key can make that one too. Every signature is checked before an envelope leaves. `seal(_:)` with many messages
    /// asks for many signatures at a time. (`Docs/Format.md`, Randomness)
    ///
    /// Rotation statements do not go through a signer: `RotationStatement` takes both keys in this process.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    public init(
        signer: any MessageSigner, topic: Topic, placeholder: Placeholder = .standard
    ) throws(SigningError) {
        self.init(try EnvelopeSigner(signer), topic: topic, placeholder: placeholder)
    }

    /// Makes a sealer with what signs for others, too; nobody is asked for anything.
    package init(_ signer: EnvelopeSigner, topic: Topic, placeholder: Placeholder) {
        envelopes = EnvelopeSealer(signer: signer, topic: topic)
        self.placeholder = placeholder
        clearParts = ClearParts(placeholder)
    }

    /// Seals a payload for one device.
    ///
    /// The content is encrypted to the device and signed by the sender; the relay learns the size bucket, the device and
    /// the time. The caller delivers the result unchanged. The clock is the caller's.
    ///
    /// - Parameters:
    ///   - payload: the APNs payload as UTF-8 JSON.
    ///   - attachments: sealed files that were stored before, at most 8; they travel encrypted and take room of the payload's.
    ///   - fullBody: a body that was sealed and stored before, because it is too long for a push; the payload's own is shown
    ///     where it cannot be fetched.
    ///   - recipient: the device's registered key.
    ///   - now: the present time.
    ///   - options: how this message is sealed; an alert that lives for 30 days unless it says otherwise.
    /// - Throws: every code of `SealError`; nothing is sealed then.
    @inlinable
    public func seal(
        _ payload: some Sequence<UInt8>, attachments: [AttachmentReference] = [], fullBody: FullBody? = nil,
        to recipient: DevicePublicKey, at now: Timestamp, options: Options = Options()
    ) throws(SealError) -> SealedPayload {
        try seal(
            bytes: ContiguousArray(payload), attachments: attachments, fullBody: fullBody, to: recipient, at: now,
            options: options)
    }

    @usableFromInline
    func seal(
        bytes: ContiguousArray<UInt8>, attachments: [AttachmentReference], fullBody: FullBody?,
        to recipient: DevicePublicKey, at now: Timestamp, options: Options
    ) throws(SealError) -> SealedPayload {
        try seal(
            bytes: bytes, attachments: attachments, fullBody: fullBody, to: recipient, at: now, options: options,
            randomness: EnvelopeSealer.Randomness())
    }

    /// The seam for known answers.
    func seal(
        bytes: ContiguousArray<UInt8>, attachments: [AttachmentReference] = [], fullBody: FullBody? = nil,
        to recipient: DevicePublicKey, at now: Timestamp, options: Options,
        randomness: consuming EnvelopeSealer.Randomness
    ) throws(SealError) -> SealedPayload {
        let prepared = try prepare(
            bytes: bytes, attachments: attachments, fullBody: fullBody, to: recipient, at: now, options: options,
            randomness: randomness)
        let signature: ContiguousArray<UInt8>
        switch envelopes.signer {
        case .key(let key): signature = key.signature(of: prepared.toSign.span)
        case .external(let signer):
            do throws(SigningError) {
                signature = try signer.signature(of: prepared.toSign)
            } catch {
                throw SealError(error)
            }
        }
        return try prepared.finish(signature: signature)
    }

    /// Checks and lays out one message, up to its signature.
    func prepare(
        bytes: ContiguousArray<UInt8>, attachments: [AttachmentReference], fullBody: FullBody? = nil,
        to recipient: DevicePublicKey, at now: Timestamp, options: Options,
        randomness: consuming EnvelopeSealer.Randomness
    ) throws(SealError) -> PreparedPayload {
        guard (1...Freshness.maximumTimeToLive).contains(options.timeToLive), now <= .maximum else {
            throw SealError(
                .invalidTime,
                "the time to live is 1 to \(Freshness.maximumTimeToLive) seconds (30 days), and the clock must be right"
            )
        }
        guard attachments.count <= AttachmentReference.maximumCount else {
            throw SealError(
                .tooManyAttachments,
                "a notification has at most \(AttachmentReference.maximumCount) attachments, and \(attachments.count) were given"
            )
        }
        let id = try options.messageID()
        let payload = try CheckedPayload(bytes, for: options.pushType)
        let clear = clearParts.part(for: payload, options.pushType)
        let body = try MessageBody(
            payload, attachments, fullBody, announcing: options.announcing, fitting: options.fitting, beside: clear,
            PushLimit(pushType: options.pushType, isSentExactly: options.isSentExactly))

        let message = EnvelopeSealer.Message(
            contentType: options.announcing.isEmpty ? .payload : .rotationAndPayload, sentAt: now,
            timeToLive: options.timeToLive, id: id)
        do throws(SodiumRefusal) {
            let envelope = try envelopes.prepare(
                body.bytes.span, message, to: recipient, bucket: body.bucket, randomness: randomness)
            return PreparedPayload(
                clear, envelope, recipient, options.pushType, expiry: now.adding(seconds: UInt64(options.timeToLive)),
                shortened: body.shortened)
        } catch {
            throw SealError(unusableKey: recipient.id)
        }
    }
}

extension Sealer.Options {
    /// The id of a message that the caller names, nil for others; throws `invalidRequest` for an empty name.
    package func messageID() throws(SealError) -> MessageID? {
        guard let messageName else { return nil }
        // All messages of the empty name would be one, and a phone would show the first of them only.
        guard !messageName.isEmpty else {
            throw SealError(.invalidRequest, "the message's name is empty; leave it out for a message of its own")
        }
        return MessageID(callerName: messageName)
    }
}
