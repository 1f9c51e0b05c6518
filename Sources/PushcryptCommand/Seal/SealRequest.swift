internal import Pushcrypt
internal import PushcryptCommandKit

/// What a line asks to seal, and how, where it says more than the command line.
struct SealRequest {
    /// Whom it is for.
    enum Recipient {
        /// The id of a device in the store.
        case device(String)
        case key(DevicePublicKey)
        /// Every device of a user.
        case user(String)
        /// A device that has no key.
        case keyless
    }

    let recipient: Recipient
    /// As it was written; nil for the one that is sealed for all.
    let payload: ContiguousArray<UInt8>?
    let topic: Topic?
    let placeholder: PlaceholderChoice?
    let options: Sealer.Options
    let headers: RequestHeaders

    /// The members that a line of every batch has for this program.
    static let names: Set = ["to", "to-user", "payload", "topic", "id", "ttl", "placeholder", "push-type"]

    /// Reads what a line says; `defaults` is for what it does not say.
    init(
        _ line: BatchLine, hasPayload: Bool, defaults: Sealer.Options, headers: RequestHeaders
    ) throws(LineFailure) {
        recipient = try Self.recipient(line)
        payload = try Self.payload(line, isExpected: hasPayload)
        topic = try Self.topic(line)
        placeholder = try line["placeholder"].map { (value) throws(LineFailure) in try PlaceholderChoice(value) }
        var options = defaults
        if let name = try line.text("id") { options.messageName = name }
        if let time = line["ttl"] { options.timeToLive = try Self.interval(time) }
        if let name = try line.text("push-type") {
            do throws(SealError) { options.pushType = try PushType(name) } catch { throw LineFailure(error) }
        }
        self.options = options
        self.headers = try RequestHeaders(line, defaults: headers)
    }

    /// Seals as the command line says, for somebody who is only named.
    init(to recipient: Recipient, defaults: Sealer.Options, headers: RequestHeaders) {
        self.recipient = recipient
        payload = nil
        topic = nil
        placeholder = nil
        options = defaults
        self.headers = headers
    }

    // MARK: Members

    private static func recipient(_ line: BatchLine) throws(LineFailure) -> Recipient {
        switch (line["to"], line["to-user"]) {
        case (let to?, nil):
            if to.kind == .null { return .keyless }
            guard let name = to.string else {
                throw LineFailure(.malformedLine, "to must be a device's id, its public key (pcr1…) or null")
            }
            return try Recipient(named: name)
        case (nil, let user?):
            guard let name = user.string else { throw LineFailure(.malformedLine, "to-user must be a user's id") }
            return .user(name)
        case (nil, nil): throw LineFailure(.malformedLine, "the line says neither 'to' nor 'to-user'")
        case (_?, _?): throw LineFailure(.malformedLine, "'to' and 'to-user' exclude each other")
        }
    }

    private static func payload(
        _ line: BatchLine, isExpected: Bool
    ) throws(LineFailure) -> ContiguousArray<UInt8>? {
        guard isExpected else {
            guard line["payload"] == nil else {
                throw LineFailure(.malformedLine, "one payload is sealed for all, and the line brings another")
            }
            return nil
        }
        guard let payload = line["payload"] else { throw LineFailure(.malformedLine, "the line has no payload") }
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

    /// Whole seconds, or text with a unit; what is out of range is refused by the sealer.
    private static func interval(_ time: JSONValue) throws(LineFailure) -> Interval {
        if let seconds = time.integer { return .seconds(UInt64(clamping: seconds)) }
        guard let text = time.string, let seconds = parseDuration(text, in: 0...Int.max) else {
            throw LineFailure(.malformedLine, "ttl must be whole seconds, or a text with a unit such as \"30d\"")
        }
        return .seconds(UInt64(clamping: seconds))
    }
}

extension SealRequest.Recipient {
    /// Takes the id of a device, or a public key, as whoever gives the line may write it.
    init(named name: String) throws(LineFailure) {
        guard name.hasPrefix(DeviceInput.keyPrefix) else {
            self = .device(name)
            return
        }
        do throws(KeyError) {
            self = .key(try DevicePublicKey(text: name))
        } catch {
            throw LineFailure(error)
        }
    }
}

extension PlaceholderChoice {
    /// Reads the title, or an object of `title`, `sound` and `clear`.
    fileprivate init(_ value: JSONValue) throws(LineFailure) {
        if let title = value.string {
            self.init(title: title)
            return
        }
        guard value.kind == .object else {
            throw LineFailure(.malformedLine, "placeholder must be a title, or an object of title, sound and clear")
        }
        self.init()
        for (name, value) in value.members {
            switch name {
            case "title": title = try Self.text(value, name)
            case "sound": sound = Placeholder.Sound(word: try Self.text(value, name))
            case "clear": clearFields = try Self.fields(value)
            default:
                throw LineFailure(.malformedLine, "placeholder has title, sound and clear, and no \(quoted(name))")
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
