internal import Pushcrypt
internal import PushcryptCommandKit

/// A message to seal: what the command line says of every message, and what its line says in a batch.
struct SealRequest: Sendable {
    enum Recipient: Sendable {
        /// The id of a device in the store.
        case device(String)
        case key(DevicePublicKey)
        /// Every device of a user.
        case user(String)
        /// A device that has no key.
        case keyless
    }

    var payload: ContiguousArray<UInt8> = []
    var topic: Topic?
    /// The name of the provider key that signs.
    var signer: String?
    var placeholder = PlaceholderChoice()
    var options = Sealer.Options()
    var attachments: [AttachmentReference] = []
    /// The person that the message is from.
    var from: CommunicationSender?
    var headers = RequestHeaders()
}

extension SealRequest.Recipient {
    /// Reads the id of a device, or a public key.
    init(named name: String) throws(KeyError) {
        // Each key begins like this, and few ids do.
        guard name.utf8.starts(with: "pc".utf8) || name.utf8.starts(with: "PC".utf8) else {
            self = .device(name)
            return
        }
        do throws(KeyError) {
            self = .key(try DevicePublicKey(text: name))
        } catch {
            // A key of another kind may be secret: it is neither looked up nor quoted.
            guard error.code != .wrongKind, !DevicePublicKey.isBeginning(of: name) else { throw error }
            self = .device(name)
        }
    }

    /// Reads whom a line names.
    init(_ line: BatchLine) throws(LineFailure) {
        switch (line.value("to"), line.value("to_user")) {
        case (let to?, nil):
            guard let name = to.asName else {
                throw LineFailure(.malformedLine, "to must be a device's id, its public key (pcr1…) or null")
            }
            do throws(KeyError) { self = try Self(named: name) } catch { throw LineFailure(error) }
        case (nil, let user?):
            guard let name = user.asName else { throw LineFailure(.malformedLine, "to_user must be a user's id") }
            self = .user(name)
        case (nil, nil):
            guard line["to"] != nil else {
                throw LineFailure(.malformedLine, "the line says neither 'to' nor 'to_user'")
            }
            self = .keyless
        case (_?, _?): throw LineFailure(.malformedLine, "'to' and 'to_user' exclude each other")
        }
    }
}

// MARK: Lines

extension SealRequest {
    /// The members of a line that every batch reads.
    static let names: Set = [
        "to", "to_user", "payload", "topic", "sign_with", "id", "ttl", "placeholder", "push_type", "withdraw", "drop",
        "from_name", "answerable", "token", "environment",
    ]
    /// The members that are read only if a request is written.
    static let headerNames: Set = ["collapse_id", "priority"]

    /// Reads what a line says; `hasPayload` if it brings its own payload.
    mutating func read(_ line: BatchLine, hasPayload: Bool) throws(LineFailure) {
        if let own = try Self.payload(line, isExpected: hasPayload) { payload = own }
        try Self.refuseSharedToken(line)
        if let own = try Self.topic(line) { topic = own }
        signer = try line.name("sign_with")
        if let value = line.value("placeholder") {
            placeholder = try PlaceholderChoice(value, of: line).otherwise(placeholder)
        }
        if let name = try line.name("id") { options.messageName = name }
        if let time = line.value("ttl") { options.timeToLive = try Self.interval(time) }
        if let names = line.value("withdraw") { options.withdrawing = try Self.names(names) }
        if let value = line.value("from_name") { from = try Self.sender(value, of: line) }
        if let isDropped = try line.flag("drop") { options.isDropped = isDropped }
        if let isAnswerable = try line.flag("answerable") { options.isAnswerable = isAnswerable }
        if let name = try line.text("push_type") {
            do throws(SealError) { options.pushType = try PushType(name) } catch { throw LineFailure(error) }
        }
        if let name = try line.name("collapse_id") { headers.collapseName = name }
        if let number = line.value("priority") { headers.priority = try Self.priority(number) }
    }

    /// A token or a grant is one device's: with one for all of a user's, one phone would get the pushes of the others.
    private static func refuseSharedToken(_ line: BatchLine) throws(LineFailure) {
        for name in ownNames where line.value(name) != nil && line.value("to_user") != nil {
            throw LineFailure(
                .malformedLine,
                "\(name) is one device's, and to_user names all of a user's: 'device add' keeps each one's")
        }
    }

    /// The members that are for `send`, and go before what the store knows.
    static let addressNames = ["token", "environment"]
    /// The members that only one device can have.
    static let ownNames = addressNames + [PushAddress.grantName]

    private static func payload(
        _ line: BatchLine, isExpected: Bool
    ) throws(LineFailure) -> ContiguousArray<UInt8>? {
        guard isExpected else {
            guard line.value("payload") == nil else {
                throw LineFailure(.malformedLine, "one payload is sealed for all, and the line brings another")
            }
            return nil
        }
        let payload = try line.payload()
        guard payload.kind == .object else {
            throw LineFailure(.malformedLine, "payload must be a JSON object, not a string that holds one")
        }
        return payload.written
    }

    private static func topic(_ line: BatchLine) throws(LineFailure) -> Topic? {
        guard let text = try line.text("topic") else { return nil }
        do throws(InvalidTopic) {
            return try Topic(text)
        } catch {
            throw LineFailure(.malformedLine, "topic: \(error)")
        }
    }

    /// Reads whole seconds, or text with a unit; the sealer refuses values out of range.
    private static func interval(_ time: JSONValue) throws(LineFailure) -> Interval {
        if let seconds = time.wholeNumber.flatMap(UInt64.init(exactly:)) { return .seconds(seconds) }
        guard let text = time.string, let seconds = parseDuration(text, in: 0...Int.max) else {
            throw LineFailure(.malformedLine, "ttl must be whole seconds, or a text with a unit such as \"30d\"")
        }
        return .seconds(UInt64(clamping: seconds))
    }

    /// Reads the member that the sealed payload has, or a name.
    private static func sender(_ value: JSONValue, of line: BatchLine) throws(LineFailure) -> CommunicationSender {
        let malformed = LineFailure(
            .malformedLine,
            "from_name must be a name, or an object of name, handle, conversation, recipients and avatar")
        if let name = value.string {
            guard let sender = CommunicationSender(name: name) else { throw malformed }
            return sender
        }
        guard value.kind == .object else { throw malformed }
        for (name, _) in value.members where !CommunicationSender.memberNames.contains(name) {
            line.warn("from_name in a line has \(quoted(name)), which has no meaning there")
        }
        let (sender, dropped) = CommunicationSender.read(member: value)
        if let error = dropped.first { throw LineFailure(.malformedLine, "from_name: \(error)") }
        guard let sender else { throw malformed }
        return sender
    }

    private static func names(_ value: JSONValue) throws(LineFailure) -> [String] {
        let names = value.elements.compactMap(\.asName)
        guard value.kind == .array, names.count == value.elements.count else {
            throw LineFailure(.malformedLine, "withdraw must be an array of names")
        }
        return names
    }

    private static func priority(_ value: JSONValue) throws(LineFailure) -> PushRequest.Priority {
        guard let number = value.wholeNumber, let priority = PushRequest.Priority(rawValue: Int(clamping: number))
        else {
            throw LineFailure(.malformedLine, "priority must be 10, 5 or 1")
        }
        return priority
    }
}

extension PlaceholderChoice {
    /// Reads a line's `placeholder`: a title, or an object of `title`, `sound` and `clear`.
    init(_ value: JSONValue, of line: BatchLine) throws(LineFailure) {
        if let title = value.string {
            self.init(title: title)
            return
        }
        guard value.kind == .object else {
            throw LineFailure(.malformedLine, "placeholder must be a title, or an object of title, sound and clear")
        }
        self.init()
        for (name, value) in value.members where value.kind != .null {
            switch name {
            case "title": title = try Self.text(value, name)
            case "sound": sound = Placeholder.Sound(word: try Self.text(value, name))
            case "clear": clearFields = try Self.fields(value)
            default: line.warn("placeholder in a line has \(quoted(name)), which has no meaning there")
            }
        }
    }

    private static func text(_ value: JSONValue, _ name: String) throws(LineFailure) -> String {
        guard let text = value.string else { throw LineFailure(.malformedLine, "placeholder.\(name) must be a string") }
        return text
    }

    private static func fields(_ value: JSONValue) throws(LineFailure) -> Set<Placeholder.ClearField> {
        let fields = value.elements.compactMap { $0.string.flatMap(Placeholder.ClearField.init(rawValue:)) }
        guard value.kind == .array, fields.count == value.elements.count else {
            let words = Placeholder.ClearField.allCases.map(\.rawValue).joined(separator: ", ")
            throw LineFailure(.malformedLine, "placeholder.clear must be an array of these: \(words)")
        }
        return Set(fields)
    }
}
