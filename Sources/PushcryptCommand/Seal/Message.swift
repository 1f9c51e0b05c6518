internal import Pushcrypt
internal import PushcryptCommandKit

/// The recipient of a message.
enum Recipient: Sendable {
    /// The id of a device in the store.
    case device(String)
    case key(DevicePublicKey)
    /// Every device of a user.
    case user(String)
    /// A device that has no key.
    case keyless

    /// Reads the id of a device, or a public key.
    init(named name: String) throws {
        // Each key begins like this, and few ids do.
        guard name.utf8.starts(with: "pc".utf8) || name.utf8.starts(with: "PC".utf8) else {
            self = .device(name)
            return
        }
        do {
            self = .key(try DevicePublicKey(text: name))
        } catch {
            // A key of another kind may be secret: it is neither looked up nor quoted.
            guard error.code != .wrongKind, !DevicePublicKey.isBeginning(of: name) else { throw error }
            self = .device(name)
        }
    }

    /// Reads the recipient that a line names.
    fileprivate init(_ line: Line) throws {
        if let name = line.name {
            self = line.isListed ? .device(name) : try Self(named: name)
            return
        }
        let to = try line.read("to", "a device's id, its public key (pcr1…) or null", \.asName)
        let user = try line.read("to_user", "a user's id", \.asName)
        switch (to, user) {
        case (let name?, nil): self = try Self(named: name)
        case (nil, let user?): self = .user(user)
        case (nil, nil):
            guard line["to"] != nil else {
                throw Failure(.malformedLine, "the line says neither 'to' nor 'to_user'")
            }
            self = .keyless
        case (_?, _?): throw Failure(.malformedLine, "'to' and 'to_user' exclude each other")
        }
    }
}

/// A message to seal, from the command line and, in a batch, its line.
struct Message: Sendable {
    var content: Sealer.Message
    var recipient = Recipient.keyless
    var topic: Topic?
    /// The name of the provider key that signs.
    var signer: String?
    var placeholder = PlaceholderChoice()
    /// The name under which pushes to a device replace each other.
    var collapseName: String?
    var priority: PushRequest.Priority?
    /// The file for the body of the payload, if that is too long; nil without `--overflow`.
    var file: SharedFile?
}

// MARK: Lines

extension Message {
    /// The members that only one device can have: if all of a user's devices shared one, one phone would get the pushes of the
    /// others.
    static let ownNames = ["token", "environment", "grant", "apns_id"]

    /// Reads a line's changes to a message that is otherwise the same for all.
    ///
    /// - Parameters:
    ///   - bringsPayload: Whether the line has a payload of its own.
    ///   - isRequest: Whether `send` reads the result; other programs may have other tokens.
    init(_ line: Line, _ common: Message, bringsPayload: Bool, isRequest: Bool) throws {
        try line.check()
        self = common
        recipient = try Recipient(line)
        if bringsPayload {
            content.payload = try line.payload(hint: ", not a string that holds one").written
            if file != nil { file = SharedFile() }
        } else if line.value("payload") != nil {
            throw Failure(.malformedLine, "the line has a payload, but one payload is sealed for all lines")
        }
        for name in Self.ownNames where line.value("to_user") != nil && line.value(name) != nil {
            throw Failure(
                .malformedLine,
                "\(name) is one device's, and to_user names all of a user's: 'device add' keeps each one's")
        }
        if isRequest { try line.checkAddress() }
        if let text = try line.text("topic") {
            do { topic = try Topic(text) } catch { throw Failure(.malformedLine, "topic: \(error)") }
        }
        signer = try line.name("sign_with")
        if let value = line.value("placeholder") {
            placeholder = try PlaceholderChoice(value, of: line).otherwise(placeholder)
        }
        content.name = try line.name("id") ?? content.name
        content.timeToLive =
            try line.read("ttl", "whole seconds, or a text with a unit such as \"30d\"", Self.interval)
            ?? content.timeToLive
        content.withdrawing = try line.read("withdraw", "an array of names", Self.names) ?? content.withdrawing
        if let value = line.value("from_name") { content.from = try CommunicationSender(value, of: line) }
        content.isDropped = try line.read("drop", "true or false", \.flag) ?? content.isDropped
        content.isAnswerable = try line.read("answerable", "true or false", \.flag) ?? content.isAnswerable
        if let name = try line.text("push_type") { content.pushType = try PushType(name) }
        collapseName = try line.name("collapse_id") ?? collapseName
        priority =
            try line.read("priority", "10, 5 or 1") {
                $0.wholeNumber.flatMap { PushRequest.Priority(rawValue: Int(clamping: $0)) }
            } ?? priority
    }

    /// Reads whole seconds, or text with a unit; the sealer refuses values out of range.
    private static func interval(_ time: JSONValue) -> Interval? {
        let seconds =
            time.wholeNumber.flatMap(UInt64.init(exactly:))
            ?? time.string.flatMap { parseDuration($0, in: 0...Int.max) }.map { UInt64(clamping: $0) }
        return seconds.map(Interval.seconds)
    }

    private static func names(_ value: JSONValue) -> [String]? {
        let names = value.elements.compactMap(\.asName)
        return value.kind == .array && names.count == value.elements.count ? names : nil
    }
}

extension CommunicationSender {
    /// Reads a line's `from_name`: an object as in the sealed payload, or a name.
    fileprivate init(_ value: JSONValue, of line: Line) throws {
        if value.kind == .object {
            for (name, _) in value.members where !CommunicationSender.memberNames.contains(name) {
                line.warn("from_name in a line has \(quoted(name)), which has no meaning there")
            }
        }
        let (read, dropped) = value.kind == .object ? CommunicationSender.read(member: value) : (nil, [])
        if let error = dropped.first { throw Failure(.malformedLine, "from_name: \(error)") }
        guard let sender = value.string.flatMap({ CommunicationSender(name: $0) }) ?? read else {
            throw Failure(
                .malformedLine,
                "from_name must be a name, or an object of name, handle, conversation, recipients and avatar")
        }
        self = sender
    }
}

extension PlaceholderChoice {
    /// Reads a line's `placeholder`: a title, or an object of `title`, `sound` and `clear`.
    fileprivate init(_ value: JSONValue, of line: Line) throws {
        self.init(title: value.string)
        guard title == nil else { return }
        guard value.kind == .object else {
            throw Failure(.malformedLine, "placeholder must be a title, or an object of title, sound and clear")
        }
        for (name, value) in value.members where value.kind != .null {
            switch name {
            case "title": title = try Self.text(value, name)
            case "sound": sound = Placeholder.Sound(word: try Self.text(value, name))
            case "clear": clearFields = try Self.fields(value)
            default: line.warn("placeholder in a line has \(quoted(name)), which has no meaning there")
            }
        }
    }

    private static func text(_ value: JSONValue, _ name: String) throws -> String {
        guard let text = value.string else { throw Failure(.malformedLine, "placeholder.\(name) must be a string") }
        return text
    }

    private static func fields(_ value: JSONValue) throws -> Set<Placeholder.ClearField> {
        let fields = value.elements.compactMap { $0.string.flatMap(Placeholder.ClearField.init(rawValue:)) }
        guard value.kind == .array, fields.count == value.elements.count else {
            let words = Placeholder.ClearField.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure(.malformedLine, "placeholder.clear must be an array of these: \(words)")
        }
        return Set(fields)
    }
}
