/// A notification as its provider sealed it: authentic, fresh, and for this device and topic.
///
/// Only ``Opener`` creates it. The displayed notification depends on nothing else. (`Docs/Format.md`, Opened
/// notification and fallback)
public struct OpenedNotification: Sendable {
    /// The payload's bytes as sealed: UTF-8 JSON with an `aps` object, including the keys of attachments.
    public let payload: ContiguousArray<UInt8>
    /// The pinned key that the message is from.
    public let provider: ProviderPublicKey
    /// The epoch of the key that signed the message: 0 for the provider key itself.
    public let epoch: UInt32
    /// The message's certificate, if it changes what the phone knows or contradicts it, even if the message was shown before.
    public let certificate: Certificate?
    /// Whether the phone knows another certificate of the same epoch: two machines have certified, or the provider key
    /// was stolen.
    public let hasCertificateConflict: Bool
    /// The phone's knowledge of the provider key after the message.
    package let learned: LearnedTrust
    /// The id of the message, the same in every copy.
    public let messageID: MessageID
    /// The time of sealing, by the provider's clock.
    public let sentAt: Timestamp
    /// The last moment at which the message opens.
    public let expiresAt: Timestamp
    /// The device key that opened the message.
    package let openedWith: DevicePublicKey
    /// The sealed files that belong to the notification, at most 8.
    public let attachments: [AttachmentReference]
    /// The sealed file with the full text, which replaces `body` if it can be fetched in time; see
    /// `fullBody(opening:)`.
    public let fullBody: AttachmentReference?
    /// The person that the notification is from, for a communication notification; nil for none.
    public let from: CommunicationSender?
    /// The earlier messages of this provider to take off the screen, at most 64.
    public let withdrawals: [MessageID]
    /// Whether the message is not to be shown.
    public let isDropped: Bool
    /// The errors of attachments, of an avatar, or of a full body, that were dropped; for the developer's log. The text is shown
    /// anyway.
    package let droppedAttachments: [AttachmentError]

    /// Whether a receiver has shown the message before under another notification request, or it is too old to tell.
    /// An `Opener`, which has no replay guard, does not know it: false.
    public package(set) var isDuplicate = false

    private let document: JSONDocument

    init(_ message: EnvelopeOpener.Message, openedWith: DevicePublicKey) throws(OpenError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: message.payload)
        } catch {
            throw OpenError(.malformedPayload, "the sealed payload is not JSON that the format accepts: \(error)")
        }
        guard document.root.kind == .object, document.root[PayloadKeys.aps]?.kind == .object else {
            throw OpenError(.malformedPayload, "the sealed payload has no aps object")
        }
        payload = message.payload
        let origin = message.origin
        (provider, epoch, learned) = (origin.provider, origin.epoch, origin.learned)
        certificate = origin.isNews ? origin.certificate : nil
        hasCertificateConflict = origin.change == .conflict
        messageID = message.messageID
        sentAt = message.sentAt
        expiresAt = message.sentAt.adding(message.timeToLive)
        self.openedWith = openedWith
        guard document.root[PayloadKeys.reserved] != nil else {
            (from, attachments, fullBody, droppedAttachments) = (nil, [], nil, [])
            (withdrawals, isDropped) = ([], false)
            return
        }
        let withdrawal = Withdrawal(in: document.root, of: message.messageID)
        (withdrawals, isDropped) = (withdrawal.messages, withdrawal.isDropped)
        let attachments = AttachmentList(of: document.root)
        let avatar: [AttachmentError]
        (from, avatar) = CommunicationSender.read(document.root)
        self.attachments = attachments.accepted
        do throws(AttachmentError) {
            fullBody = try FullBody.reference(in: document.root)
            droppedAttachments = attachments.dropped + avatar
        } catch {
            fullBody = nil
            droppedAttachments = attachments.dropped + avatar + [error]
        }
    }

    /// The title, unless it is localized on the device.
    public var title: String? { alert?["title"]?.string }
    /// The subtitle, unless it is localized on the device.
    public var subtitle: String? { alert?["subtitle"]?.string }
    /// The body, unless it is localized on the device; the short body if there is a full one.
    public var body: String? { alert?.string ?? alert?["body"]?.string }

    /// The payload as parsed JSON, including the member `pushcrypt`.
    package var root: JSONValue { document.root }

    /// The members that may be stored and shown: all except `pushcrypt`, which contains keys.
    package var visibleMembers: [(name: String, value: JSONValue)] {
        document.root.members.filter { $0.name != PayloadKeys.reserved }
    }

    /// The key for the user's answer; nil if the message is not answerable. A secret of this phone.
    package var answerKey: AnswerKey? { AnswerKey(in: document.root) }

    private var alert: JSONValue? { document.root[PayloadKeys.aps]?["alert"] }
}

extension OpenedNotification {
    /// Opens the fetched sealed file that `fullBody` refers to, and returns the text to show as the body.
    ///
    /// - Throws: the errors of `AttachmentOpener`; `malformedFile` if the file is not text; `malformedReference` if the
    ///   notification has no full body. In any case, the caller shows `body`.
    public func fullBody(opening sealedFile: Span<UInt8>) throws(AttachmentError) -> String {
        guard let fullBody else { throw AttachmentFields.malformed("there is no full body") }
        var opener = AttachmentOpener(fullBody.file)
        var plain = ContiguousArray<UInt8>()
        try opener.open(sealedFile, into: &plain)
        try opener.finish(into: &plain)
        return try FullBody.text(plain)
    }
}

extension OpenedNotification {
    /// Seals the user's answer for the provider, and returns its text, which any channel may carry.
    ///
    /// Only the provider can read it. Two texts of the same answer differ: send one again unchanged, so that it counts as
    /// the same. (`Docs/FormatRecords.md`, Answers)
    ///
    /// - Parameters:
    ///   - action: The action's id, 1 to 255 bytes.
    ///   - text: What the user typed; nil for an action without a text field.
    ///   - now: When the user answered.
    /// - Returns: The text; nil if the message is not answerable.
    /// - Throws: `invalidRequest` for another action, `payloadTooLarge` if the text is too long: about 3,900 bytes fit.
    public func answer(_ action: String, text: String? = nil, at now: Timestamp) throws(SealError) -> String? {
        guard let answerKey else { return nil }
        let answer = Answer(
            device: openedWith, messageID, sentAt: sentAt, action: action, text: text, answeredAt: min(now, .maximum))
        return try SealedAnswer(answer, with: answerKey).text
    }
}
