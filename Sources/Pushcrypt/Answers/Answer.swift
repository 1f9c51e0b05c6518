/// A user's response to a notification: approved, declined, or a typed reply.
///
/// An ``AnswerOpener`` creates it. The phone that got the message has sealed it, and it proves nothing to others.
/// (`Docs/FormatRecords.md`, Answer)
public struct Answer: Hashable, Sendable {
    /// The key of the device that answered.
    public let device: DevicePublicKey
    /// The message, as ``SealedPayload/messageID``.
    public let messageID: MessageID
    /// When the message was sealed.
    public let sentAt: Timestamp
    /// The action's id, 1 to 255 bytes.
    public let action: String
    /// The text that the user typed; nil for an action without a text field.
    public let text: String?
    /// When the user answered, by the phone's clock.
    public let answeredAt: Timestamp

    private enum Name {
        static let messageID = "message_id"
        static let sentAt = "sent_at"
        static let action = "action"
        static let text = "text"
        static let answeredAt = "at"
    }

    static let maximumActionLength = 255

    package init(
        device: DevicePublicKey, _ messageID: MessageID, sentAt: Timestamp, action: String, text: String?,
        answeredAt: Timestamp
    ) {
        self.device = device
        self.messageID = messageID
        self.sentAt = sentAt
        self.action = action
        self.text = text
        self.answeredAt = answeredAt
    }

    /// Reads what a device has sealed; throws `malformedPayload`.
    init(json: Bytes, device: DevicePublicKey) throws(OpenError) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: json).root
        } catch {
            throw OpenError(.malformedPayload, "the answer is not JSON that the format accepts: \(error)")
        }
        guard let id = root[Name.messageID]?.string.flatMap({ Bytes(lowerCaseHex: $0) }),
            let messageID = MessageID(bytes: id.span)
        else { throw Self.malformed(Name.messageID) }
        guard let sentAt = Self.time(root[Name.sentAt]) else { throw Self.malformed(Name.sentAt) }
        guard let action = root[Name.action]?.string, Self.isAction(action) else { throw Self.malformed(Name.action) }
        let text = root.member(Name.text)
        guard text.map({ $0.kind == .string }) ?? true else { throw Self.malformed(Name.text) }
        guard let answeredAt = Self.time(root[Name.answeredAt]) else { throw Self.malformed(Name.answeredAt) }
        self.init(
            device: device, messageID, sentAt: sentAt, action: action, text: text?.string, answeredAt: answeredAt)
    }

    /// The JSON to seal.
    var json: Bytes {
        var json = JSONWriter()
        json.object { json in
            json.string(messageID.description, for: Name.messageID)
            json.integer(sentAt.milliseconds, for: Name.sentAt)
            json.string(action, for: Name.action)
            if let text { json.string(text, for: Name.text) }
            json.integer(answeredAt.milliseconds, for: Name.answeredAt)
        }
        return json.bytes
    }

    static func isAction(_ action: String) -> Bool { (1...maximumActionLength).contains(action.utf8.count) }

    private static func time(_ value: JSONValue?) -> Timestamp? {
        guard let number = value?.integer, let milliseconds = UInt64(exactly: number) else { return nil }
        let time = Timestamp(milliseconds: milliseconds)
        return time <= .maximum ? time : nil
    }

    private static func malformed(_ member: String) -> OpenError {
        OpenError(
            .malformedPayload,
            "\(member) of the answer is missing or has another form: the app does not follow the format")
    }
}
