internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// A line of the input: the message to send, and the parts that its answer repeats.
struct SendLine {
    enum Content {
        case message(PushToSend, PushEnvironment?)
        /// The line says why it was not sealed: it is its own answer.
        case passedOn
        case refused(Failure)
    }

    let content: Content
    /// About the bytes that are kept until the answer.
    let byteCount: Int
    private let line: Line
    private let isForRelay: Bool

    /// The line's number in the input, from 1.
    var number: Int { line.number }
    /// The member `id`.
    var id: String? { line["id"]?.asName }

    /// Reads a line, for a publisher's relay if `isForRelay` is true; nil for one that is too long or incomplete.
    ///
    /// - Parameter console: Tells of members that look like mistakes; nil if nobody is told.
    init(
        _ text: ContiguousArray<UInt8>?, number: Int, forRelay isForRelay: Bool = false, _ console: Console? = nil
    ) {
        line = Line(number, text, LineForm(isForRelay ? .relay : .send, console))
        self.isForRelay = isForRelay
        var byteCount = text?.count ?? 0
        if line.isRepeated, line.value(isForRelay ? "data" : "payload") == nil {
            content = .passedOn
        } else {
            do {
                try line.check()
                let push = try isForRelay ? PushToSend(forRelay: line) : PushToSend(line)
                let environment = try line.read(
                    "environment", "production or development", { $0.string.flatMap(PushEnvironment.init) })
                content = .message(push, environment)
                byteCount += push.payload.count
            } catch {
                content = .refused(Failure(error))
            }
        }
        self.byteCount = byteCount
    }

    /// Writes recipient and name, which each answer repeats first.
    func writeFront(to json: inout JSONWriter) { line.write(["to", "id"], to: &json) }

    /// Writes the members that an error repeats beside them: with its payload, the line can be sent again.
    func writeHeaders(to json: inout JSONWriter) {
        line.write(isForRelay ? PushToSend.relayHeaders : PushToSend.headerNames, to: &json)
    }

    /// Writes the rest of the line, without the payload.
    func writeBack(to json: inout JSONWriter) {
        line.write(isForRelay ? ["grant"] : ["token", "environment", "unencrypted"], to: &json)
        line.writePassed(to: &json)
    }
}

// MARK: Messages

extension JSONValue {
    /// Whether it is a payload with something sealed in it: a string, of more than its quotes.
    fileprivate var isSealed: Bool {
        guard let text = self[PayloadKeys.encryptedData] else { return false }
        return text.kind == .string && text.range.count > 2
    }
}

extension PushToSend {
    /// The longest value of another header; APNs takes less.
    private static let longestValue = 512
    /// The limits of APNs, in bytes.
    private static let longestCollapseID = 64
    private static let longestPayload = 4096
    private static let longestCallPayload = 5120

    /// The members that become headers.
    static let headerNames = ["topic", "push_type", "priority", "expiration", "collapse_id", "apns_id"]

    /// Reads what `seal --emit request` writes, and checks it: no byte of a header may end it.
    init(_ line: Line) throws {
        let payload = try line.payload()
        let isClear = try line.read("unencrypted", "true or false", \.bool) ?? false
        // APNs would deliver an unsealed payload, and Apple could read it.
        guard payload.isSealed || isClear else {
            throw Failure(
                .notSealed,
                "the payload is not sealed: give it to 'pushcrypt seal', or say \"unencrypted\":true if Apple may read it"
            )
        }
        guard let token = try line.text("token") else {
            throw Failure(
                .malformedLine, "the line has no token: 'device add --token' keeps a device's, and 'seal' writes it")
        }
        guard let topic = try line.text("topic") else {
            throw Failure(.malformedLine, "the line has no topic: seal with --emit request")
        }
        try line.checkAddress()
        let (pushType, collapseID) = (try line.text("push_type"), try line.text("collapse_id"))
        let (priority, expiration) = (try line.number("priority"), try line.number("expiration"))
        guard priority.map({ [10, 5, 1].contains($0) }) ?? true else {
            throw Failure(.malformedLine, "priority must be 10, 5 or 1")
        }
        let text = payload.minified()
        let longest = pushType == "voip" ? Self.longestCallPayload : Self.longestPayload
        guard text.count <= longest else {
            throw Failure(
                .requestRefused, "the payload has \(text.count) bytes, and APNs takes \(longest): shorten it")
        }
        guard collapseID.map({ $0.utf8.count <= Self.longestCollapseID }) ?? true else {
            throw Failure(.requestRefused, "collapse_id has more than \(Self.longestCollapseID) bytes")
        }
        self.init(
            deviceToken: token, topic: topic, expiration: expiration ?? 0, payload: text, isClear: !payload.isSealed)
        headers.reserveCapacity(6)
        try add("apns-topic", topic)
        try add("apns-push-type", pushType ?? "alert")
        if let priority { try add("apns-priority", "\(priority)") }
        if let expiration { try add("apns-expiration", "\(expiration)") }
        if let collapseID { try add("apns-collapse-id", collapseID) }
        if let id = try line.text("apns_id") { try add("apns-id", id) }
    }

    private mutating func add(_ name: String, _ value: String) throws {
        guard (1...Self.longestValue).contains(value.utf8.count), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            value.utf8.first != 0x20, value.utf8.last != 0x20
        else { throw Failure(.malformedLine, "\(name) must be a text of printable characters") }
        headers.append((name, value))
    }

    // MARK: Relay

    static let relayHeaders = ["kind", "priority", "expiration", "collapse_id", "sound", "content_available"]

    /// Reads what `seal --emit relay` writes: a message of Docs/Relay.md beside recipient and name.
    ///
    /// The relay itself checks the members, message by message.
    init(forRelay line: Line) throws {
        guard let data = try line.text("data"), !data.isEmpty else {
            throw Failure(.notSealed, "the line has no data: seal with --emit relay")
        }
        guard let grant = try line.text("grant") else {
            throw Failure(
                .malformedLine,
                "the line has no grant: the phone's record brings it, 'device add' keeps it, and 'seal --emit relay' writes it"
            )
        }
        for name in Self.relayHeaders {
            _ = try line.read(name, "a string, a number, true or false") {
                $0.kind == .object || $0.kind == .array ? nil : $0
            }
        }
        let present = (["grant"] + Self.relayHeaders + ["data"]).filter { line.value($0) != nil }
        self.init(deviceToken: grant, payload: jsonObject { line.write(present, to: &$0) })
        expiration = try line.number("expiration") ?? 0
    }
}
