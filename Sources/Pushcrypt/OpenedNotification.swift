/// A notification as its sender sealed it: authentic, fresh, for this device and topic.
///
/// Only `Opener` makes one. What a person is shown is a function of this alone. (`Docs/Format.md`, Opened notification and
/// fallback)
public struct OpenedNotification: Sendable {
    /// The payload's bytes as they were sealed: UTF-8 JSON with an `aps` object; with attachments, their keys as well.
    public let payload: ContiguousArray<UInt8>
    /// Who sealed it: a key that is trusted here.
    public let sender: SenderPublicKey
    /// Names the message; the same in every copy of it.
    public let messageID: MessageID
    /// When it was sealed, by the sender's clock.
    public let sentAt: Timestamp
    /// The last moment at which it opens.
    public let expiresAt: Timestamp
    /// The device key that opened it.
    public let openedWith: DevicePublicKey
    /// The rotations that the message brought and that change what is trusted, once it has passed the replay check too.
    public let statements: [RotationStatement]
    /// The message brought a rotation that contradicts an accepted one: a sign that an old sender key was stolen.
    public let hasRotationConflict: Bool
    /// The sealed files that belong to it, at most 8.
    public let attachments: [AttachmentReference]
    /// The sealed file with the text that belongs in the place of `body`, when it can be fetched in time: see
    /// `fullBody(opening:)`.
    public let fullBody: AttachmentReference?
    /// Why other attachments, or a full body, were left out, for the developer's log: each is dropped alone, and the text is shown.
    public let droppedAttachments: [AttachmentError]

    private let document: JSONDocument

    init(_ message: EnvelopeOpener.Message, openedWith: DevicePublicKey) throws(OpenError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: message.payload)
        } catch {
            throw OpenError(.malformedPayload, "the sealed payload is not JSON as this format takes it: \(error)")
        }
        guard document.root.kind == .object, document.root[PayloadKeys.aps]?.kind == .object else {
            throw OpenError(.malformedPayload, "the sealed payload has no aps object")
        }
        payload = message.payload
        sender = message.sender
        messageID = message.messageID
        sentAt = message.sentAt
        expiresAt = message.sentAt.adding(seconds: UInt64(message.timeToLive))
        self.openedWith = openedWith
        statements = message.statements
        hasRotationConflict = message.rotationConflict
        let attachments = AttachmentList(of: document.root)
        self.attachments = attachments.accepted
        do throws(AttachmentError) {
            fullBody = try FullBody.reference(in: document.root)
            droppedAttachments = attachments.dropped
        } catch {
            fullBody = nil
            droppedAttachments = attachments.dropped + [error]
        }
    }

    /// The title, when it is not localised on the device.
    public var title: String? { alert?["title"]?.string }
    /// The subtitle, when it is not localised on the device.
    public var subtitle: String? { alert?["subtitle"]?.string }
    /// The body, when it is not localised on the device; a short one where there is a full body.
    public var body: String? { alert?.string ?? alert?["body"]?.string }
    /// Whether the sealed payload has a sound.
    public var hasSound: Bool { document.root[PayloadKeys.aps]?["sound"] != nil }

    /// The payload as parsed JSON, the key `pushcrypt` included.
    package var root: JSONValue { document.root }

    /// The payload's members without `pushcrypt`, which holds keys: what may be stored and shown.
    package var visibleMembers: [(name: String, value: JSONValue)] {
        document.root.members.filter { $0.name != PayloadKeys.reserved }
    }

    private var alert: JSONValue? { document.root[PayloadKeys.aps]?["alert"] }
}

extension OpenedNotification {
    /// Opens the sealed file that `fullBody` refers to, which the caller has fetched, and gives the text to show as body.
    ///
    /// Throws what an `AttachmentOpener` throws, `malformedFile` where the file is no text, and `malformedReference` where
    /// the notification has no full body. Whatever is thrown, the caller shows `body`.
    public func fullBody(opening sealedFile: Span<UInt8>) throws(AttachmentError) -> String {
        guard let fullBody else { throw AttachmentFields.malformed("there is no full body") }
        var opener = AttachmentOpener(fullBody.file)
        var plain = ContiguousArray<UInt8>()
        try opener.open(sealedFile, into: &plain)
        try opener.finish(into: &plain)
        return try FullBody.text(plain)
    }
}
