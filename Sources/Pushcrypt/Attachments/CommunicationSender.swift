/// The person that a notification is from, with a face: what communication notifications show.
///
/// An avatar contains a secret, the key of its file. (`Docs/Format.md`, Sender)
public struct CommunicationSender: Sendable {
    /// The maximum length of each text in bytes of UTF-8.
    package static let maximumLength = 255
    /// The maximum number of recipients.
    package static let maximumRecipients = 8
    /// The maximum size of an avatar's sealed file: the extension has 24 MB for all its work.
    package static let maximumAvatarSize: UInt64 = 1_000_000

    /// The name to show.
    public let name: String
    /// The person's id in the app, the same in each message; the name if there is no id.
    public let handle: String
    /// The conversation's id; nil for the conversation with this person.
    public let conversation: String?
    /// The names of the others in the conversation: a group, if there are several.
    public let recipients: [String]
    /// The sealed picture: `public.jpeg` or `public.png`.
    public let avatar: AttachmentReference?

    /// Creates a value; returns nil if a text is empty, longer than 255 bytes or has a control character, if there are
    /// more than 8 recipients, or if the avatar is not a picture of at most a megabyte.
    public init?(
        name: String, handle: String? = nil, conversation: String? = nil, recipients: [String] = [],
        avatar: AttachmentReference? = nil
    ) {
        let texts = [name] + [handle, conversation].compactMap(\.self) + recipients
        guard texts.allSatisfy(Self.isValid), recipients.count <= Self.maximumRecipients,
            avatar.map(Self.isAvatar) != false
        else { return nil }
        self.name = name
        self.handle = handle ?? name
        self.conversation = conversation
        self.recipients = recipients
        self.avatar = avatar
    }

    /// Returns the person as a receiver shows it; nil if a name has no visible character. (N-9)
    private var shown: CommunicationSender? {
        CommunicationSender(
            name: name.withoutInvisible, handle: handle, conversation: conversation,
            recipients: recipients.map(\.withoutInvisible), avatar: avatar)
    }

    /// Whether a text may be shown.
    package static func isValid(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count) && !text.unicodeScalars.contains(where: \.isControl)
    }

    private static func isAvatar(_ reference: AttachmentReference) -> Bool {
        types.contains(reference.type) && reference.file.size <= maximumAvatarSize
    }

    private static let types = ["public.jpeg", "public.png"]
}

// MARK: Payload

extension CommunicationSender {
    private static let key = "sender"

    /// Reads the sender in an opened payload; returns nil if there is none. A wrong avatar is left out and reported, a
    /// wrong text leaves no sender.
    static func read(_ payload: JSONValue) -> (sender: CommunicationSender?, dropped: [AttachmentError]) {
        guard let value = payload[PayloadKeys.reserved]?[key], value.kind == .object else { return (nil, []) }
        let (sender, dropped) = read(member: value)
        return (sender?.shown, dropped)
    }

    /// The names in the member of a payload.
    package static let memberNames: Set = ["name", "handle", "conversation", "recipients", "avatar"]

    /// Reads the member itself, an object.
    package static func read(member value: JSONValue) -> (sender: CommunicationSender?, dropped: [AttachmentError]) {
        func isAbsent(_ name: String) -> Bool { value[name].map { $0.kind == .null } ?? true }
        let (handle, conversation) = (value["handle"]?.string, value["conversation"]?.string)
        let recipients = value["recipients"]?.elements.map { $0.string ?? "" } ?? []
        var avatar: AttachmentReference?
        var dropped: [AttachmentError] = []
        if let picture = value["avatar"], picture.kind != .null {
            do throws(AttachmentError) {
                let reference = try AttachmentReference(AttachmentFields(picture))
                guard isAvatar(reference) else {
                    throw AttachmentFields.malformed("it is not a picture of at most \(maximumAvatarSize) bytes")
                }
                avatar = reference
            } catch {
                dropped = [AttachmentError(error.code, "avatar: \(error)")]
            }
        }
        guard let name = value["name"]?.string, handle != nil || isAbsent("handle"),
            conversation != nil || isAbsent("conversation"),
            value["recipients"]?.kind == .array || isAbsent("recipients"),
            let sender = CommunicationSender(
                name: name, handle: handle, conversation: conversation, recipients: recipients, avatar: avatar)
        else { return (nil, dropped) }
        return (sender, dropped)
    }

    /// Writes the member of a payload.
    func write(to json: inout JSONWriter) {
        json.object(for: Self.key) { json in
            json.string(name, for: "name")
            if handle != name { json.string(handle, for: "handle") }
            if let conversation { json.string(conversation, for: "conversation") }
            if !recipients.isEmpty {
                json.array(for: "recipients") { json in for name in recipients { json.string(name) } }
            }
            avatar?.write(to: &json, for: "avatar")
        }
    }
}
