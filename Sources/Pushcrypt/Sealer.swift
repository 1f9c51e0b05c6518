/// Turns the APNs payload that a provider sends today into the one to send instead.
///
/// One value for one app, made once; any number of threads may use it at the same time. It keeps no state between
/// messages. (`Docs/Format.md`)
public struct Sealer: Sendable {
    /// Whose notifications these are, and what a phone shows when it cannot open them.
    public let placeholder: Placeholder

    private let envelopes: EnvelopeSealer
    private let clearParts: ClearParts

    /// How one message is sealed.
    public struct Options: Hashable, Sendable {
        /// The push type it is sent as.
        public var pushType = PushType.alert
        /// A name for the message, the same in every retry, so that a phone shows it once; nil for a message of its own.
        public var messageName: String?
        /// For how long after sealing it is shown, in seconds, 1…2,592,000 (30 days, the default).
        public var timeToLive = Freshness.maximumTimeToLive
        /// The rotations of the sender's key that the device may not know yet, oldest first, at most 4; more is a mistake
        /// of the caller's, and traps.
        public var announcing: [RotationStatement] = []
        /// The sender hands the bytes to Apple as they are, so their own length is measured and not the widest
        /// re-encoding.
        public var isSentExactly = false

        /// The defaults: an alert, 30 days.
        public init() {}
    }

    /// Makes a sealer for one app.
    public init(sender: SenderKey, topic: Topic, placeholder: Placeholder = .standard) {
        envelopes = EnvelopeSealer(sender: sender, topic: topic)
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
    ///   - recipient: the device's registered key.
    ///   - now: the present time.
    /// - Throws: every code of `SealError`; nothing is sealed then.
    @inlinable
    public func seal(
        _ payload: some Sequence<UInt8>, to recipient: DevicePublicKey, at now: Timestamp, options: Options = Options()
    ) throws(SealError) -> SealedPayload {
        try seal(bytes: ContiguousArray(payload), to: recipient, at: now, options: options)
    }

    @usableFromInline
    func seal(
        bytes: ContiguousArray<UInt8>, to recipient: DevicePublicKey, at now: Timestamp, options: Options
    ) throws(SealError) -> SealedPayload {
        try seal(bytes: bytes, to: recipient, at: now, options: options, randomness: EnvelopeSealer.Randomness())
    }

    /// The seam for known answers.
    func seal(
        bytes: ContiguousArray<UInt8>, to recipient: DevicePublicKey, at now: Timestamp, options: Options,
        randomness: consuming EnvelopeSealer.Randomness
    ) throws(SealError) -> SealedPayload {
        guard (1...Freshness.maximumTimeToLive).contains(options.timeToLive), now <= .maximum else {
            throw SealError(
                .invalidTime,
                "the time to live is 1 to \(Freshness.maximumTimeToLive) seconds (30 days), and the clock must be right"
            )
        }
        let payload = try CheckedPayload(bytes, for: options.pushType)
        let body = try body(of: payload, options)
        guard
            let bucket = Bucket.smallest(
                holding: InnerPlaintext.body + body.count, limit: options.pushType.largestBucket)
        else { throw tooLarge(body, options) }
        let clear = clearParts.part(for: payload, options.pushType)
        try clear.checkLength(bucket: bucket, options)

        let message = EnvelopeSealer.Message(
            contentType: options.announcing.isEmpty ? .payload : .rotationAndPayload, sentAt: now,
            timeToLive: options.timeToLive, id: options.messageName.map(MessageID.init(callerName:)))
        do throws(SodiumRefusal) {
            let (envelope, id) = try envelopes.seal(
                body.span, message, to: recipient, bucket: bucket, randomness: randomness)
            return SealedPayload(clear, envelope, messageID: id, pushType: options.pushType)
        } catch {
            throw SealError(
                .unusableKey, "libsodium refused the device's key \(recipient.id); have the device register again")
        }
    }

    /// The minified payload, behind the statements that are announced.
    private func body(of payload: CheckedPayload, _ options: Options) throws(SealError) -> ContiguousArray<UInt8> {
        var body = ContiguousArray<UInt8>()
        if !options.announcing.isEmpty {
            precondition(
                options.announcing.count <= RotationStatement.maximumPerMessage, "at most 4 statements fit a message")
            body.append(UInt8(options.announcing.count))
            for statement in options.announcing { body.append(contentsOf: statement.bytes) }
        }
        payload.document.root.appendMinified(to: &body)
        return body
    }

    private func tooLarge(_ body: ContiguousArray<UInt8>, _ options: Options) -> SealError {
        let budget = options.pushType.maximumPayloadLength
        let statements = options.announcing.isEmpty ? 0 : StatementBlock.length(count: options.announcing.count)
        let reason =
            "the payload has \(body.count - statements) bytes without white space, \(body.count - budget) more than fit (\(budget - statements)); shorten it by that much"
        return SealError(
            .payloadTooLarge,
            statements == 0
                ? reason : "\(reason); the rotation that is being announced takes \(statements) bytes until it ends")
    }
}
