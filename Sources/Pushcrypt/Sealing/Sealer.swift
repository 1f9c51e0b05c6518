/// Seals APNs payloads for the devices of one app.
///
/// Create one value for each app; any number of threads may use it at the same time. It keeps no state between
/// messages. (`Docs/Format.md`)
public struct Sealer: Sendable {
    /// The clear part, which a phone shows if it cannot open a notification.
    public let placeholder: Placeholder

    let envelopes: EnvelopeSealer
    private let clearParts: ClearParts
    private let answerSecret: AnswerSecret?

    /// The options for sealing one message.
    public struct Options: Hashable, Sendable {
        /// The push type.
        public var pushType = PushType.alert
        /// A name for the message, not empty and the same in every retry, so that a phone shows the message once; nil
        /// for a separate message each time.
        public var messageName: String?
        /// The time after sealing for which receivers show the message: 1 second to 30 days, the default; 0 for now or
        /// never: APNs tries once.
        ///
        /// Unless it is a VoIP push, the end becomes a multiple of 10 minutes, the next if 30 days allow it: the relay
        /// reads `apns-expiration`. Receivers show a message of 0 for 10 minutes, because clocks differ.
        /// (`Docs/FormatNotes.md`, Expiration)
        public var timeToLive = Freshness.maximumTimeToLive
        /// Whether the JSON reaches Apple byte for byte, so that its own length is limited and not that of the longest
        /// re-encoding.
        public var isSentExactly = false
        /// The texts that may be shortened if the payload is too long, in this order; none by default.
        ///
        /// Each text is cut between characters as far as necessary, down to its first character before the next text is
        /// cut, and ends in `…`. `SealedPayload.shortened` has the number of characters removed.
        public var fitting: [AlertText] = []
        /// The names of earlier messages that phones take off the screen, and never show again, at most 64: the
        /// `messageName` of messages for the same account, by this provider. (`Docs/FormatMessages.md`, Withdrawal and drop)
        public var withdrawing: [String] = []
        /// Whether the message is only for the app's extension: it shows nothing if Apple lets it, and otherwise shows
        /// the notification quietly.
        public var isDropped = false
        /// Whether the user may answer, if the sealer has an answer secret. The name of such a message is never used for
        /// another payload, because it is what an answer names. (`Docs/FormatAnswers.md`)
        public var isAnswerable = false

        /// Creates the default options: an alert for 30 days.
        public init() {}
    }

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
        envelopes = EnvelopeSealer(signer: signer, topic: topic)
        self.placeholder = placeholder
        clearParts = ClearParts(placeholder)
        answerSecret = answers
    }

    /// Seals a payload for one device.
    ///
    /// The content is encrypted to the device and signed by the provider. The relay learns the size bucket, the device
    /// and the time. The caller sends the result unchanged.
    ///
    /// - Parameters:
    ///   - payload: The APNs payload as UTF-8 JSON.
    ///   - attachments: References to sealed and stored files, at most 8; they are sent encrypted and count as payload.
    ///   - fullBody: The sealed and stored body, if it is too long for a push; if it cannot be fetched, the payload's
    ///     own body is shown.
    ///   - from: The person that the notification is from, for a communication notification; nil for none.
    ///   - recipient: The device's registered key.
    ///   - now: The present time.
    ///   - options: The options for this message; by default, an alert for 30 days.
    /// - Throws: `SealError`, with any code.
    @inlinable
    public func seal(
        _ payload: some Sequence<UInt8>, attachments: [AttachmentReference] = [], fullBody: FullBody? = nil,
        from: CommunicationSender? = nil, to recipient: DevicePublicKey, at now: Timestamp,
        options: Options = Options()
    ) throws(SealError) -> SealedPayload {
        try seal(
            bytes: ContiguousArray(payload), attachments: attachments, fullBody: fullBody, from: from, to: recipient,
            at: now, options: options)
    }

    @usableFromInline
    func seal(
        bytes: ContiguousArray<UInt8>, attachments: [AttachmentReference], fullBody: FullBody?,
        from: CommunicationSender?, to recipient: DevicePublicKey, at now: Timestamp, options: Options
    ) throws(SealError) -> SealedPayload {
        try seal(
            bytes: bytes, attachments: attachments, fullBody: fullBody, from: from, to: recipient, at: now,
            options: options, randomness: EnvelopeSealer.Randomness())
    }

    /// Seals with given randomness, for tests with known answers.
    func seal(
        bytes: ContiguousArray<UInt8>, attachments: [AttachmentReference] = [], fullBody: FullBody? = nil,
        from: CommunicationSender? = nil, to recipient: DevicePublicKey, at now: Timestamp, options: Options,
        randomness: consuming EnvelopeSealer.Randomness
    ) throws(SealError) -> SealedPayload {
        guard options.timeToLive <= Freshness.maximumTimeToLive, now <= .maximum else {
            throw SealError(
                .invalidTime,
                "the time to live must be at most \(Freshness.maximumTimeToLive.seconds) seconds (30 days), and the clock must be right"
            )
        }
        // Phones would refuse the message, and say nothing. (S-10)
        if let end = envelopes.signer.certificate?.expiresAt, now > end {
            throw SealError(
                .invalidTime,
                "the signing key's certificate expired at \(end): replace the key, or check this clock (\(now))")
        }
        guard attachments.count <= AttachmentReference.maximumCount else {
            throw SealError(
                .tooManyAttachments,
                "a notification has at most \(AttachmentReference.maximumCount) attachments, and \(attachments.count) were given"
            )
        }
        guard recipient.suite.isSupported else { throw SealError(.unsupportedSuite, CipherSuite.requirement) }
        var id = try options.messageID()
        if !options.withdrawing.isEmpty { try Withdrawal.check(options.withdrawing, of: options.messageName) }
        let payload = try CheckedPayload(bytes, for: options.pushType)
        let clear = clearParts.part(for: payload, options.pushType)
        var reserved = ReservedMember(
            attachments: attachments, fullBody: fullBody, from: from, withdrawing: options.withdrawing,
            isDropped: options.isDropped)
        if options.isAnswerable {
            // The answer key depends on the id, so the id cannot depend on the whole body.
            let chosen = id ?? envelopes.hedgedMessageID(body: bytes.span, sentAt: now, randomness.messageID)
            id = chosen
            reserved.answer = try answerKey(of: chosen, sentAt: now, to: recipient)
        }
        let body = try MessageBody(
            payload, reserved,
            beside: envelopes.signer.certificate, fitting: options.fitting, in: clear,
            PushLimit(pushType: options.pushType, isSentExactly: options.isSentExactly, suite: recipient.suite))

        let timeToLive = options.sealedTimeToLive(at: now)
        let message = EnvelopeSealer.Message(
            pushClass: options.pushType.pushClass, sentAt: now, timeToLive: UInt32(clamping: timeToLive.seconds), id: id
        )
        do throws(SodiumRefusal) {
            let (envelope, id) = try envelopes.seal(
                body.bytes.span, message, to: recipient, bucket: body.bucket, randomness: randomness)
            return SealedPayload(
                clear, envelope, messageID: id, recipient: recipient, pushType: options.pushType,
                expiresAt: now.adding(timeToLive), expiration: options.expiration(until: now.adding(timeToLive)),
                shortened: body.shortened)
        } catch {
            throw SealError(unusableKey: recipient.id)
        }
    }
}

extension Sealer {
    private func answerKey(
        of message: MessageID, sentAt: Timestamp, to recipient: DevicePublicKey
    ) throws(SealError) -> AnswerKey {
        guard let answerSecret else {
            preconditionFailure("an answerable message needs a sealer with an answer secret")
        }
        do throws(SodiumRefusal) {
            return try answerSecret.key(of: message, sentAt: sentAt, to: recipient, envelopes.topic)
        } catch {
            throw SealError(unusableKey: recipient.id)
        }
    }
}

extension Sealer.Options {
    /// Returns the time to live with an end that does not tell the relay when it was chosen.
    func sealedTimeToLive(at now: Timestamp) -> Interval {
        guard !isNowOrNever else { return .seconds(Self.endUnit / 1000) }
        guard pushType != .voip else { return timeToLive }
        let now = min(now, .maximum).milliseconds
        let end = now + 1000 * min(timeToLive, Freshness.maximumTimeToLive).seconds
        func life(until end: UInt64) -> Interval { .seconds((end - now + 999) / 1000) }
        let rounded = life(until: (end + Self.endUnit - 1) / Self.endUnit * Self.endUnit)
        return rounded <= Freshness.maximumTimeToLive ? rounded : life(until: end / Self.endUnit * Self.endUnit)
    }

    /// Returns `apns-expiration` of a message that ends then.
    func expiration(until end: Timestamp) -> UInt64 { isNowOrNever ? 0 : end.milliseconds / 1000 }

    private var isNowOrNever: Bool { timeToLive == .seconds(0) }

    /// Ten minutes, in milliseconds.
    static let endUnit: UInt64 = 600_000

    /// Returns the id of a message with a name, nil for one without; throws `invalidRequest` for an empty name.
    package func messageID() throws(SealError) -> MessageID? {
        guard let messageName else { return nil }
        // All messages with the empty name would be the same message, and a phone would show only the first.
        guard !messageName.isEmpty else {
            throw SealError(.invalidRequest, "the message's name is empty; leave it out for a separate message")
        }
        return MessageID(callerName: messageName)
    }
}
