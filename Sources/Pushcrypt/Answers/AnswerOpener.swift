/// Opens the answers that an app's users give.
///
///     let opener = AnswerOpener(topic: topic, secrets: [secret], devices: [device])
///     let answer = try opener.open(text, at: now, within: .minutes(10))
///
/// A pure value, which keeps nothing: the same text opens again. A relay chooses which of two different answers comes
/// first, so a caller that wants one answer to each message keeps the first. (`Docs/FormatRecords.md`, Opening an answer)
public struct AnswerOpener: Sendable {
    /// The codes of refused answers, in the order of the checks.
    package static let codes: [OpenError.Code] = [
        .malformedEnvelope, .unsupportedMessage, .unknownRecipientKey, .authenticationFailed, .malformedPayload,
        .expired,
    ]

    private let topic: Topic
    private let secrets: [AnswerSecret]
    private let devices: [DevicePublicKey]

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - topic: The app's bundle id.
    ///   - secrets: The app's answer secret, and those before it for 32 days after they were replaced. A stolen one is
    ///     destroyed at once.
    ///   - devices: The keys of the device that may answer, or of all devices; replaced ones for 32 days.
    public init(topic: Topic, secrets: [AnswerSecret], devices: [DevicePublicKey]) {
        self.topic = topic
        self.secrets = secrets
        self.devices = devices
    }

    /// Opens the text of an answer.
    ///
    /// The result is authentic: who opened the message on one of the devices has sealed it, or who has the answer secret.
    ///
    /// - Parameters:
    ///   - text: What the app sent, unchanged.
    ///   - now: The present time.
    ///   - limit: How long after the message was sealed an answer counts, such as ten minutes for an approval; at most,
    ///     and by default, 31 days.
    /// - Throws: `malformedEnvelope`, `unsupportedMessage`, `unknownRecipientKey`, `authenticationFailed`,
    ///   `malformedPayload` or `expired`, in this order.
    public func open(
        _ text: some StringProtocol, at now: Timestamp, within limit: Interval = .days(31)
    ) throws(OpenError) -> Answer {
        let text = Bytes(text.utf8)
        return try open(SealedAnswer(text: text.span), at: now, within: limit)
    }

    package func open(
        _ sealed: SealedAnswer, at now: Timestamp, within limit: Interval = AnswerKey.life
    ) throws(OpenError) -> Answer {
        let named = devices.filter { $0.id == sealed.recipientKeyID }
        guard !named.isEmpty else {
            throw OpenError(
                .unknownRecipientKey,
                "answered with key \(sealed.recipientKeyID), which is of none of the devices; have it register again")
        }
        defer { Sodium.wipeStack() }
        for device in named {
            for secret in secrets {
                let key = try? secret.key(for: sealed.answerID, to: device, topic)
                guard let plaintext = key.flatMap({ sealed.plaintext(with: $0) }) else { continue }
                guard let json = plaintext.withSpan({ SealedAnswer.json(in: $0) }) else { throw Self.notAuthentic }
                let answer = try Answer(json: json, device: device)
                // A key of another message opens no answer to this one.
                let id = secret.id(of: answer.messageID, sentAt: answer.sentAt, to: device, topic)
                guard Sodium.areEqual(id.span, sealed.answerID.span) else { throw Self.notAuthentic }
                guard now <= answer.sentAt.adding(min(limit, AnswerKey.life)) else {
                    throw OpenError(
                        .expired,
                        "the message was sealed at \(answer.sentAt), and the time for an answer to it has ended; check this clock (\(now))"
                    )
                }
                return answer
            }
        }
        throw Self.notAuthentic
    }

    private static let notAuthentic = OpenError(
        .authenticationFailed,
        "the answer was changed, or is not to a message of this app that was sealed with one of these secrets; compare topic and secrets"
    )
}
