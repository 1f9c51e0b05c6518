/// Opens one envelope: steps 3 to 6 of the opening order. (`Docs/Format.md`, Opening)
///
/// It does not interpret the payload; `Opener` does. Its errors after step 3 do not reveal which check failed.
struct EnvelopeOpener {
    let deviceKey: DeviceKey
    let trust: ProviderTrust
    let topic: Topic
    let pushClass: PushClass
    let now: Timestamp

    /// An authentic, fresh message, whose payload has not been checked.
    struct Message {
        let origin: Origin
        let messageID: MessageID
        let sentAt: Timestamp
        let timeToLive: Interval
        /// The payload's bytes, without a certificate.
        let payload: ContiguousArray<UInt8>
    }

    /// The pin that a message is from, and what the phone knows about it after the message.
    struct Origin {
        let provider: ProviderPublicKey
        let epoch: UInt32
        /// The message's certificate; nil at epoch 0.
        let certificate: Certificate?
        let change: ProviderTrust.Change
        let learned: LearnedTrust
        /// Whether the certificate is kept, or told as one in conflict.
        let isNews: Bool
    }

    private static let failure = OpenError(
        .authenticationFailed,
        "not sealed by a pinned provider for this device and topic, or changed on the way; check the topic, the pinned provider and the device's key"
    )

    func open(_ envelope: Envelope) throws(OpenError) -> Message {
        let inner = try decrypt(envelope)
        return try inner.withSpan { (inner) throws(OpenError) in try read(inner, envelope) }
    }

    /// Step 4: HPKE.
    private func decrypt(_ envelope: Envelope) throws(OpenError) -> Ephemeral {
        defer { Sodium.wipeStack() }
        do throws(SodiumRefusal) {
            let info = envelope.withHeader { envelopeInfo(header: $0, topic: topic) }
            let sharedSecret = try envelope.withEnc { (enc) throws(SodiumRefusal) in
                try KEM.decapsulate(enc, with: deviceKey)
            }
            let context = try HPKEContext(.of(envelope.suite), sharedSecret: sharedSecret, info: info.span)
            return try envelope.withCiphertext { (ciphertext) throws(SodiumRefusal) in
                let empty = ContiguousArray<UInt8>()
                return try context.open(ciphertext, authenticating: empty.span)
            }
        } catch {
            throw Self.failure
        }
    }

    /// Steps 5 and 6: the provider, the push class, the times.
    private func read(_ inner: Span<UInt8>, _ envelope: Envelope) throws(OpenError) -> Message {
        let sentAt = Timestamp(milliseconds: inner.bigEndian(at: InnerPlaintext.sentAt.lowerBound))
        guard let layout = Layout(inner), let origin = origin(of: inner, layout, envelope, sentAt: sentAt),
            Sodium.isAllZero(inner.extracting(layout.padding))
        else { throw Self.failure }
        try checkClass(inner[InnerPlaintext.kind] & InnerPlaintext.Kind.classMask)
        let timeToLive = Interval.seconds(
            UInt64(inner.bigEndian(at: InnerPlaintext.timeToLive.lowerBound, as: UInt32.self)))
        try Freshness.check(sentAt: sentAt, timeToLive: timeToLive, at: now)
        guard let messageID = MessageID(bytes: inner.extracting(InnerPlaintext.messageID)) else { throw Self.failure }
        return Message(
            origin: origin, messageID: messageID, sentAt: sentAt, timeToLive: timeToLive,
            payload: ContiguousArray(copying: inner.extracting(layout.payload)))
    }

    /// Throws unless the message is of the class that the caller expects. (O-6.1, O-6.2)
    private func checkClass(_ value: UInt8) throws(OpenError) {
        guard let sealed = PushClass(rawValue: value) else {
            throw OpenError(
                .unsupportedMessage,
                "the message has push class \(value), which this version does not support; update the receiver")
        }
        guard sealed == pushClass else {
            throw OpenError(
                .wrongPushClass,
                "the message was sealed as \(sealed), and arrived as \(pushClass): send it with the apns-push-type it was sealed for"
            )
        }
    }

    // MARK: Provider

    /// Where the parts of an inner plaintext are; nil if its lengths and its kind contradict each other.
    private struct Layout {
        let epoch: UInt32
        let certificate: Range<Int>?
        let payload: Range<Int>
        let padding: Range<Int>

        init?(_ inner: Span<UInt8>) {
            let kind = inner[InnerPlaintext.kind]
            let hasCertificate = kind & InnerPlaintext.Kind.hasCertificate != 0
            let length = Int(inner.bigEndian(at: InnerPlaintext.bodyLength.lowerBound, as: UInt16.self))
            let start = InnerPlaintext.body + (hasCertificate ? Certificate.length : 0)
            epoch = inner.bigEndian(at: InnerPlaintext.epoch.lowerBound)
            guard kind & InnerPlaintext.Kind.reservedMask == 0, hasCertificate == (epoch > 0) else { return nil }
            let end = InnerPlaintext.body + length
            guard end <= inner.count, start <= end else { return nil }
            certificate = hasCertificate ? InnerPlaintext.body..<start : nil
            payload = start..<end
            padding = end..<inner.count
        }
    }

    /// Returns the first pin that the message is from; nil if there is none. (O-5.2 to O-5.5)
    private func origin(of inner: Span<UInt8>, _ layout: Layout, _ envelope: Envelope, sentAt: Timestamp) -> Origin? {
        var certificate: Certificate?
        if let range = layout.certificate {
            guard let read = self.certificate(inner.extracting(range)), read.epoch == layout.epoch else { return nil }
            certificate = read
        }
        let hash = contentHash(of: inner)
        let recipient = deviceKey.publicKey.transcript
        for pin in trust.pins {
            // One that is stored was verified before.
            if let certificate, pin.learned.certificate != certificate,
                (try? certificate.check(for: pin.key, topic: topic)) == nil
            {
                continue
            }
            let keys = SignedBy(
                provider: pin.key, signing: certificate?.signingKey.bytes ?? pin.key.bytes, epoch: layout.epoch)
            guard isSigned(inner, hash, to: recipient, by: keys, envelope) else { continue }
            let (learned, change) = certificate.map(pin.learned.learning) ?? (pin.learned, .unchanged)
            guard learned.admits(epoch: layout.epoch, under: certificate, sentAt: sentAt, at: now) else { continue }
            return Origin(
                provider: pin.key, epoch: layout.epoch, certificate: certificate, change: change, learned: learned,
                isNews: change != .unchanged || learned != pin.learned)
        }
        return nil
    }

    /// Reads the certificate at the start of a body; one that is stored has passed T-1.
    private func certificate(_ bytes: Span<UInt8>) -> Certificate? {
        let copy = ContiguousArray(copying: bytes)
        return trust.pins.first { $0.learned.certificate?.bytes == copy }?.learned.certificate
            ?? (try? Certificate(bytes: bytes))
    }

    private func isSigned(
        _ inner: Span<UInt8>, _ contentHash: ContiguousArray<UInt8>, to recipient: ContiguousArray<UInt8>,
        by keys: SignedBy, _ envelope: Envelope
    ) -> Bool {
        let message = envelope.withHeader { header in
            envelope.withEnc { enc in
                signedMessage(
                    header: header, enc: enc, envelope.suite, recipient: recipient, by: keys, topic: topic,
                    contentHash: contentHash)
            }
        }
        return Ed25519.isValid(
            inner.extracting(InnerPlaintext.signature), for: message.span, publicKey: keys.signing.span)
    }
}

extension Freshness {
    /// Checks the two times of a message against the receiver's clock.
    static func check(sentAt: Timestamp, timeToLive: Interval, at now: Timestamp) throws(OpenError) {
        guard (.seconds(1)...maximumTimeToLive).contains(timeToLive), sentAt <= .maximum else {
            throw OpenError(
                .unsupportedMessage, "the message's times are out of range: its provider does not follow the format")
        }
        guard now <= sentAt.adding(timeToLive) else {
            throw OpenError(
                .expired,
                "the message was sent at \(sentAt), and its time ended at \(sentAt.adding(timeToLive)); check this clock (\(now))"
            )
        }
        guard sentAt <= now.adding(clockTolerance) else {
            throw OpenError(
                .notYetValid,
                "the message was sent at \(sentAt), more than a day in the future; check both clocks (\(now) here)")
        }
    }
}
