/// A notification as its sender sealed it: authentic, fresh, and for this device and topic.
///
/// Only ``Opener`` creates it. The displayed notification depends on nothing else. (`Docs/Format.md`, Opened
/// notification and fallback)
public struct OpenedNotification: Sendable {
    /// The payload's bytes as sealed: UTF-8 JSON with an `aps` object, including the keys of attachments.
    public let payload: ContiguousArray<UInt8>
    /// The trusted key that signed the message.
    public let sender: ProviderPublicKey
    /// The id of the message, the same in every copy.
    public let messageID: MessageID
    /// The time of sealing, by the sender's clock.
    public let sentAt: Timestamp
    /// The last moment at which the message opens.
    public let expiresAt: Timestamp
    /// The device key that opened the message.
    public let openedWith: DevicePublicKey
    /// The rotations and recoveries in the message that change the trust, even if the message was shown before.
    public let statements: [RotationStatement]
    /// Whether the message has a rotation that contradicts an accepted one: a sign that an old sender key was stolen.
    public let hasRotationConflict: Bool
    /// Whether the message has a recovery that contradicts an accepted one: a sign that the recovery key was stolen.
    public let hasRecoveryConflict: Bool
    /// The sealed files that belong to the notification, at most 8.
    public let attachments: [AttachmentReference]
    /// The sealed file with the full text, which replaces `body` if it can be fetched in time; see
    /// `fullBody(opening:)`.
    public let fullBody: AttachmentReference?
    /// The person that the notification is from, for a communication notification; nil for none.
    public let from: CommunicationSender?
    /// The earlier messages of this sender to take off the screen, at most 64.
    public let withdrawals: [MessageID]
    /// Whether the message is not to be shown.
    public let isDropped: Bool
    /// The keys whose messages this one withdraws: the one that signed it, and those that it has superseded and that
    /// still verify messages.
    package let withdrawnSenders: [ProviderPublicKey]
    /// The errors of attachments, of an avatar, or of a full body, that were dropped; for the developer's log. The text is shown
    /// anyway.
    public let droppedAttachments: [AttachmentError]

    /// Whether a receiver has shown the message before under another notification request, or it is too old to tell.
    /// An `Opener`, which has no replay guard, does not know it: false.
    public package(set) var isDuplicate = false

    private let document: JSONDocument

    init(_ message: EnvelopeOpener.Message, openedWith: DevicePublicKey, at now: Timestamp) throws(OpenError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: message.payload)
        } catch {
            throw OpenError(.malformedPayload, "the sealed payload is not JSON that the format accepts: \(error)")
        }
        guard document.root.kind == .object, document.root[PayloadKeys.aps]?.kind == .object else {
            throw OpenError(.malformedPayload, "the sealed payload has no aps object")
        }
        payload = message.payload
        sender = message.sender
        messageID = message.messageID
        sentAt = message.sentAt
        expiresAt = message.sentAt.adding(message.timeToLive)
        self.openedWith = openedWith
        statements = message.statements
        hasRotationConflict = message.conflicts.contains(.conflict)
        hasRecoveryConflict = message.conflicts.contains(.recoveryConflict)
        guard document.root[PayloadKeys.reserved] != nil else {
            (from, attachments, fullBody, droppedAttachments) = (nil, [], nil, [])
            (withdrawals, withdrawnSenders, isDropped) = ([], [], false)
            return
        }
        let withdrawal = Withdrawal(in: document.root, of: message.messageID)
        (withdrawals, isDropped) = (withdrawal.messages, withdrawal.isDropped)
        withdrawnSenders =
            withdrawals.isEmpty ? [] : message.trust.keys(supersededBy: message.sender, at: now)
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
    /// Whether the sealed payload has a sound.
    public var hasSound: Bool { document.root[PayloadKeys.aps]?["sound"] != nil }

    /// The payload as parsed JSON, including the member `pushcrypt`.
    package var root: JSONValue { document.root }

    /// The members that may be stored and shown: all except `pushcrypt`, which contains keys.
    package var visibleMembers: [(name: String, value: JSONValue)] {
        document.root.members.filter { $0.name != PayloadKeys.reserved }
    }

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
