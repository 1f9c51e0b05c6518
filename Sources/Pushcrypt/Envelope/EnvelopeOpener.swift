/// Opens one envelope: steps 3 to 6 of the opening order. (`Docs/Format.md`, Opening)
///
/// It does not interpret the body; `Opener` does. Its errors after step 3 do not reveal which check failed.
struct EnvelopeOpener {
    let deviceKey: DeviceKey
    let trust: ProviderTrust
    let topic: Topic
    let now: Timestamp

    /// An authentic, fresh message, whose body has not been checked.
    struct Message {
        let sender: ProviderPublicKey
        let messageID: MessageID
        let sentAt: Timestamp
        let timeToLive: Interval
        /// The payload's bytes, without statements.
        let payload: ContiguousArray<UInt8>
        /// The statements that change the trust, once the message has passed all checks.
        let statements: [RotationStatement]
        /// The codes of statements in the message that contradict an accepted one.
        let conflicts: Set<RotationError.Code>
        /// The trust after the statements.
        let trust: ProviderTrust
    }

    private static let failure = OpenError(
        .authenticationFailed,
        "not sealed by a trusted sender for this device and topic, or changed on the way; check the topic, the trusted sender and the device's key"
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

    /// Steps 5 and 6: the sender, the padding, the times.
    private func read(_ inner: Span<UInt8>, _ envelope: Envelope) throws(OpenError) -> Message {
        let bodyLength = Int(inner.bigEndian(at: InnerPlaintext.bodyLength.lowerBound, as: UInt16.self))
        guard bodyLength <= inner.count - InnerPlaintext.body else { throw Self.failure }
        let body = inner.extracting(InnerPlaintext.body..<InnerPlaintext.body + bodyLength)
        let padding = inner.extracting(InnerPlaintext.body + bodyLength..<inner.count)
        let type = InnerPlaintext.ContentType(rawValue: inner[InnerPlaintext.contentType])

        let statements = type == .rotationAndPayload ? StatementBlock(body) : nil
        let (sender, evaluation) = try verifiedProvider(inner, envelope, statements?.statements ?? [])
        guard Sodium.isAllZero(padding) else { throw Self.failure }

        guard let type else {
            throw OpenError(
                .unsupportedMessage,
                "the message has content type \(inner[InnerPlaintext.contentType]), which this version does not support; update the receiver"
            )
        }
        let sentAt = Timestamp(milliseconds: inner.bigEndian(at: InnerPlaintext.sentAt.lowerBound))
        let timeToLive = Interval.seconds(
            UInt64(inner.bigEndian(at: InnerPlaintext.timeToLive.lowerBound, as: UInt32.self)))
        try Freshness.check(sentAt: sentAt, timeToLive: timeToLive, at: now)
        guard let messageID = MessageID(bytes: inner.extracting(InnerPlaintext.messageID)) else { throw Self.failure }

        let payload: ContiguousArray<UInt8>
        switch type {
        case .payload: payload = ContiguousArray(copying: body)
        case .rotationAndPayload:
            guard let statements else {
                throw OpenError(
                    .malformedPayload,
                    "the message's rotation statements cannot be read: its sender does not follow the format")
            }
            payload = ContiguousArray(copying: body.extracting(statements.length..<body.count))
        }
        return Message(
            sender: sender, messageID: messageID, sentAt: sentAt, timeToLive: timeToLive, payload: payload,
            statements: evaluation.accepted, conflicts: evaluation.conflicts, trust: evaluation.trust)
    }

    /// Returns the trusted key that signed, and the effect of the statements. (O-5.2)
    ///
    /// The key is trusted after all statements of the message or, unless one of them was a recovery, before them. If none
    /// is, recoveries have no effect: they would revoke the key of a phone that was enrolled since.
    private func verifiedProvider(
        _ inner: Span<UInt8>, _ envelope: Envelope, _ statements: [RotationStatement]
    ) throws(OpenError) -> (ProviderPublicKey, Evaluation) {
        let id = KeyID(value: inner.bigEndian(at: InnerPlaintext.senderKeyID.lowerBound))
        let before = trust.candidates(for: id, at: now)
        let evaluation = evaluate(statements)
        var candidates = before
        if !statements.isEmpty {
            let after = evaluation.trust.candidates(for: id, at: now)
            candidates = evaluation.hasRecovery ? after : before + after.filter { !before.contains($0) }
        }
        let hash = contentHash(of: inner)
        let recipient = deviceKey.publicKey.transcript
        for candidate in candidates where isSigned(inner, hash, to: recipient, by: candidate, envelope) {
            return (candidate, evaluation)
        }
        if evaluation.hasRecovery {
            return try verifiedProvider(inner, envelope, statements.filter { !$0.isRecovery })
        }
        if candidates.isEmpty, evaluation.conflicts.contains(.recoveryConflict) {
            throw OpenError(
                .recoveryConflict,
                "the recovery key has signed two statements with one serial: treat it as stolen, and replace it in an app release"
            )
        }
        if candidates.isEmpty, evaluation.conflicts.contains(.conflict) {
            throw OpenError(
                .rotationConflict,
                "a superseded sender key has signed another rotation: treat that key as stolen, and have the app pin the right one"
            )
        }
        throw Self.failure
    }

    private func isSigned(
        _ inner: Span<UInt8>, _ contentHash: ContiguousArray<UInt8>, to recipient: ContiguousArray<UInt8>,
        by sender: ProviderPublicKey, _ envelope: Envelope
    ) -> Bool {
        let message = envelope.withHeader { header in
            envelope.withEnc { enc in
                signedMessage(
                    header: header, enc: enc, envelope.suite, recipient: recipient, sender: sender, topic: topic,
                    contentHash: contentHash)
            }
        }
        return Ed25519.isValid(
            inner.extracting(InnerPlaintext.signature), for: message.span, publicKey: sender.bytes.span)
    }

    // MARK: Statements

    /// The effect of the statements of one message on the trust.
    private struct Evaluation {
        var trust: ProviderTrust
        var accepted: [RotationStatement] = []
        var conflicts: Set<RotationError.Code> = []

        var hasRecovery: Bool { accepted.contains(where: \.isRecovery) }
    }

    /// Applies the statements in order to a copy of the trust; statements that are not acceptable are ignored.
    private func evaluate(_ statements: [RotationStatement]) -> Evaluation {
        var evaluation = Evaluation(trust: trust)
        for statement in statements {
            let outcome = evaluation.trust.evaluate(statement, for: topic, at: now)
            if let change = try? outcome.change.get(), change != .unchanged { evaluation.accepted.append(statement) }
            if let conflict = outcome.conflict { evaluation.conflicts.insert(conflict.code) }
        }
        return evaluation
    }
}

/// The statements at the start of a body of content type 0x02: a count of 1 to 4, then 181 bytes each, oldest first.
struct StatementBlock {
    /// The statements that this version can read; others are ignored, or a later version would make receivers blind.
    let statements: [RotationStatement]
    /// The number of bytes before the payload.
    let length: Int

    static func length(count: Int) -> Int { 1 + count * RotationStatement.length }

    /// Parses the start of a body; returns nil if it is malformed.
    init?(_ body: Span<UInt8>) {
        guard !body.isEmpty else { return nil }
        let count = Int(body[0])
        guard (1...RotationStatement.maximumPerMessage).contains(count), body.count >= Self.length(count: count) else {
            return nil
        }
        var statements: [RotationStatement] = []
        for index in 0..<count {
            let bytes = body.extracting(Self.length(count: index)..<Self.length(count: index + 1))
            if let statement = try? RotationStatement(bytes: bytes) { statements.append(statement) }
        }
        self.statements = statements
        length = Self.length(count: count)
    }
}

extension Freshness {
    /// Checks the two times of a message against the receiver's clock.
    static func check(sentAt: Timestamp, timeToLive: Interval, at now: Timestamp) throws(OpenError) {
        guard (.seconds(1)...maximumTimeToLive).contains(timeToLive), sentAt <= .maximum else {
            throw OpenError(
                .unsupportedMessage, "the message's times are out of range: its sender does not follow the format")
        }
        guard now <= sentAt.adding(timeToLive) else {
            throw OpenError(
                .expired,
                "the message was sent at \(sentAt) to live for \(timeToLive.seconds) seconds; check this clock (\(now))"
            )
        }
        guard sentAt <= now.adding(clockTolerance) else {
            throw OpenError(
                .notYetValid,
                "the message was sent at \(sentAt), more than a day in the future; check both clocks (\(now) here)")
        }
    }
}
