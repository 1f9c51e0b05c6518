extension Sealer {
    /// A payload, and how it is sealed: by default, as an alert for 30 days.
    public struct Message: Sendable {
        /// The APNs payload as UTF-8 JSON.
        public var payload: ContiguousArray<UInt8>
        /// The push type.
        public var pushType = PushType.alert
        /// A name for the message, not empty and the same in every retry, so that a phone shows the message once; nil
        /// for a separate message each time.
        public var name: String?
        /// The time after sealing for which receivers show the message: 1 second to 30 days, the default; with 0, APNs tries
        /// once.
        ///
        /// Except for a VoIP push, the end is rounded to a multiple of 10 minutes, up if 30 days allow it: the relay reads
        /// `apns-expiration`. Receivers show a message with 0 for 10 minutes, because clocks differ. (`Docs/Format.md`,
        /// Expiration)
        public var timeToLive = Freshness.maximumTimeToLive
        /// Whether the JSON reaches Apple byte for byte, so that the limit applies to its own length, not to the longest
        /// re-encoding.
        public var isSentExactly = false
        /// The texts that may be shortened if the payload is too long, in this order; none by default.
        ///
        /// Each text is cut between characters as far as necessary, down to its first character before the next text is
        /// cut, and ends in `…`. `SealedPayload.shortened` has the number of characters removed.
        public var fitting: [AlertText] = []
        /// The names of earlier messages that phones take off the screen, and never show again, at most 64: the
        /// `name` of messages for the same account, by this provider. (`Docs/Format.md`, Withdrawal and drop)
        public var withdrawing: [String] = []
        /// Whether the message is only for the app's extension, which shows nothing if Apple lets it, and otherwise shows the
        /// notification quietly.
        public var isDropped = false
        /// Whether the user may answer, if the sealer has an answer secret. Never reuse the name of such a message for another
        /// payload, because the answer names it. (`Docs/FormatRecords.md`, Answers)
        public var isAnswerable = false
        /// References to sealed and stored files, at most 8; they are sent encrypted and count as payload.
        public var attachments: [AttachmentReference] = []
        /// The sealed and stored body, if it is too long for a push; if it cannot be fetched, the payload's own body is
        /// shown.
        public var fullBody: FullBody?
        /// The sender shown by a communication notification; nil for none.
        public var from: CommunicationSender?

        /// Creates an alert for 30 days from an APNs payload.
        public init(_ payload: some Sequence<UInt8>) { self.payload = ContiguousArray(payload) }
    }
}

extension Sealer.Message {
    /// Checks everything but the payload; returns the push class that the provider signs.
    func check(
        for device: DevicePublicKey, _ certificate: Certificate?, at now: Timestamp
    ) throws(SealError) -> PushClass {
        let pushClass = try pushType.sealableClass()
        guard timeToLive <= Freshness.maximumTimeToLive, now <= .maximum else {
            throw SealError(
                .invalidTime,
                "the time to live must be at most \(Freshness.maximumTimeToLive.seconds) seconds (30 days), and the clock must be right"
            )
        }
        // Phones would refuse the message, and say nothing. (S-10)
        if let end = certificate?.expiresAt, now > end {
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
        guard device.suite.isSupported else { throw SealError(.unsupportedSuite, CipherSuite.requirement) }
        if !withdrawing.isEmpty { try Withdrawal.check(withdrawing, of: name) }
        return pushClass
    }

    /// Throws for a payload that cannot be sealed for any device, however its texts are shortened: the errors of `CheckedPayload`,
    /// and `payloadTooLarge`.
    package func refuseUnsealable() throws(SealError) {
        _ = try pushType.sealableClass()
        let minified = try CheckedPayload(payload, for: pushType).document.root.minified()
        let budget = pushType.maximumPayloadLength
        guard minified.count > budget, PayloadFitter(minified, maximumLength: budget, shortening: fitting) == nil else {
            return
        }
        throw .payloadTooLarge(minified.count, budget: budget)
    }

    /// Returns the payload to send unsealed, without white space; only APNs' own rules apply to it.
    package func unsealed() throws(SealError) -> ContiguousArray<UInt8> {
        guard withdrawing.isEmpty, !isDropped, !isAnswerable else {
            throw SealError(
                .invalidRequest,
                "a message that withdraws others, is dropped or can be answered cannot be sent unsealed")
        }
        _ = try id()
        let json = try CheckedPayload.object(payload).root.minified()
        guard json.count > 2 else {
            throw SealError(.malformedPayload, "the payload is empty, and APNs refuses such a push")
        }
        try limit(.x25519).check(
            isSentExactly ? json.count : JSONText.maximumReencodedLength(of: json.span), fix: "shorten it by that much")
        return json
    }

    func limit(_ suite: CipherSuite) -> PushLimit {
        PushLimit(pushType: pushType, isSentExactly: isSentExactly, suite: suite)
    }

    /// Returns the id of a named message, nil for one without a name; throws `invalidRequest` for an empty name.
    func id() throws(SealError) -> MessageID? {
        guard let name else { return nil }
        // All messages with the empty name would be the same message, and a phone would show only the first.
        guard !name.isEmpty else {
            throw SealError(.invalidRequest, "the message's name is empty; leave it out for a separate message")
        }
        return MessageID(callerName: name)
    }

    // MARK: Times

    /// Ten minutes, in milliseconds.
    static let endUnit: UInt64 = 600_000

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
}
