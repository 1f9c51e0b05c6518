internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// A line of the input: the message to send, and the parts that its answer repeats.
struct SendLine {
    /// What a line says of its message, by where it goes.
    struct Form: Sendable {
        /// The members that are read.
        fileprivate let names: Set<String>
        /// The members that only an error repeats.
        fileprivate let headers: [String]
        /// The members that every answer repeats.
        fileprivate let back: [String]
        /// The members that an answer may add.
        fileprivate let reserved: Set<String>
        fileprivate let ownNames: Set<String>
        /// Whether a line has something to send.
        fileprivate let hasPayload: @Sendable (BatchLine) -> Bool
        fileprivate let message: @Sendable (BatchLine) throws(LineFailure) -> PushToSend

        init(
            names: [String], headers: [String], back: [String], answers: [String],
            hasPayload: @escaping @Sendable (BatchLine) -> Bool,
            message: @escaping @Sendable (BatchLine) throws(LineFailure) -> PushToSend
        ) {
            self.names = Set(names + SendLine.frontNames)
            (self.headers, self.back, self.hasPayload, self.message) = (headers, back, hasPayload, message)
            reserved = SendLine.answerNames.union(answers)
            ownNames = self.names.union(reserved)
        }

        /// What `seal --emit request` writes.
        static let apns = Form(
            names: ["payload"] + apnsHeaders + apnsAddress, headers: apnsHeaders, back: apnsAddress, answers: [],
            hasPayload: { $0.value("payload") != nil }, message: SendLine.message)

        private static let apnsHeaders = ["topic", "push_type", "priority", "expiration", "collapse_id"]
        private static let apnsAddress = ["token", "environment", "unencrypted"]
    }

    /// The members that an answer adds.
    private static let answerNames: Set = [
        "status", "reason", "timestamp", "retry", "apns_id", "dry_run", "error", "line",
    ]
    private static let frontNames = ["to", "id"]
    /// How every line begins that a seal refused, or that was not sent before.
    private static let errorStart = ContiguousArray("{\"error\":".utf8)

    enum Content {
        case message(PushToSend, PushEnvironment?)
        /// The line says why it was not sealed: it is its own answer.
        case passedOn
        case refused(LineFailure)
    }

    /// The line's number in the input, from 1.
    let number: Int
    let content: Content
    /// Members of the answer, each after a comma: recipient and name; the rest without the payload.
    let front: ContiguousArray<UInt8>
    let back: ContiguousArray<UInt8>
    /// What an error repeats besides, so that with its payload the line can be sent again.
    let headers: ContiguousArray<UInt8>

    /// The member `id`.
    var id: String? {
        guard front.count > 1 else { return nil }
        let text = [UInt8(ascii: "{")] + front.dropFirst() + [UInt8(ascii: "}")]
        return (try? JSONDocument(parsing: ContiguousArray(text)).root)?["id"]?.asName
    }

    /// About the bytes that are kept until the answer.
    var byteCount: Int {
        let parts = front.count + back.count + headers.count
        guard case .message(let message, _) = content else { return parts }
        return parts + message.payload.count
    }

    /// - Parameter warning: Tells of members that look like mistakes; nil if nobody is told.
    init(_ text: ContiguousArray<UInt8>, number: Int, _ form: Form = .apns, _ warning: OnceWarning? = nil) {
        self.number = number
        let isOwn = text.starts(with: Self.errorStart)
        do throws(LineFailure) {
            let line = try BatchLine(
                text, names: isOwn ? form.ownNames : form.names, reserved: form.reserved, warning)
            front = Self.members { line.write(Self.frontNames, to: &$0) }
            headers = Self.members { line.write(form.headers, to: &$0) }
            back = Self.members {
                line.write(form.back, to: &$0)
                line.writePassed(to: &$0)
            }
            if isOwn, !form.hasPayload(line) {
                content = .passedOn
                return
            }
            do throws(LineFailure) {
                try line.refuseReserved()
                content = .message(try form.message(line), try Self.environment(line))
            } catch {
                content = .refused(error)
            }
        } catch {
            (front, back, headers) = ([], [], [])
            content = .refused(error)
        }
    }

    /// A line that is too long, or of which the end was not read.
    init(unread number: Int) {
        self.number = number
        content = .refused(.lineTooLong)
        (front, back, headers) = ([], [], [])
    }

    private static func members(_ write: (inout JSONWriter) -> Void) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.bytes.reserveCapacity(200)
        json.object(write)
        var bytes = json.bytes
        bytes.removeLast()
        if bytes.count == 1 { return [] }
        bytes[0] = UInt8(ascii: ",")
        return bytes
    }
}

// MARK: Members

extension SendLine {
    private static func message(_ line: BatchLine) throws(LineFailure) -> PushToSend {
        let payload = try line.payload()
        guard payload.kind == .object else { throw LineFailure(.malformedLine, "payload must be a JSON object") }
        try checkIsSealed(payload, orSaidToBeClear: line.value("unencrypted"))
        guard let token = try line.text("token") else {
            throw LineFailure(
                .malformedLine, "the line has no token: 'device add --token' keeps a device's, and 'seal' writes it")
        }
        guard let topic = try line.text("topic") else {
            throw LineFailure(.malformedLine, "the line has no topic: seal with --emit request")
        }
        return try PushToSend(
            token: token, topic: topic, pushType: try line.text("push_type"), priority: try line.number("priority"),
            expiration: try line.number("expiration"), collapseID: try line.text("collapse_id"),
            payload: payload)
    }

    /// Refuses a payload that was never sealed: APNs would deliver it, and Apple could read it.
    static func checkIsSealed(_ payload: JSONValue, orSaidToBeClear word: JSONValue?) throws(LineFailure) {
        guard word.map({ $0.bool != nil }) ?? true else {
            throw LineFailure(.malformedLine, "unencrypted must be true or false")
        }
        guard !payload.isSealed, word?.bool != true else { return }
        throw LineFailure(
            .notSealed,
            "the payload is not sealed: give it to 'pushcrypt seal', or say \"unencrypted\":true if Apple may read it")
    }

    private static func environment(_ line: BatchLine) throws(LineFailure) -> PushEnvironment? {
        guard let name = try line.text("environment") else { return nil }
        guard let environment = PushEnvironment(rawValue: name) else {
            throw LineFailure(.malformedLine, "environment must be production or development")
        }
        return environment
    }
}

extension JSONValue {
    /// Whether it is a payload with something sealed in it: a string, of more than its quotes.
    fileprivate var isSealed: Bool {
        guard let text = self[PayloadKeys.encryptedData] else { return false }
        return text.kind == .string && text.range.count > 2
    }
}

extension PushToSend {
    /// The longest device token that is sent; Apple's have 64 characters, and may grow.
    private static let longestToken = 400
    /// The longest value of another header; APNs takes less.
    private static let longestValue = 512
    /// The limits of APNs, in bytes.
    private static let longestCollapseID = 64
    private static let longestPayload = 4096
    private static let longestCallPayload = 5120

    /// Checks the parts of a request: no byte of a header may end it.
    init(
        token: String, topic: String, pushType: String?, priority: UInt64?, expiration: UInt64?, collapseID: String?,
        payload: JSONValue
    ) throws(LineFailure) {
        let text = payload.minified()
        guard (1...Self.longestToken).contains(token.utf8.count),
            token.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || 0x61...0x66 ~= $0 | 0x20 })
        else { throw LineFailure(.malformedLine, "token must be a device token in hexadecimal") }
        guard priority.map({ [10, 5, 1].contains($0) }) ?? true else {
            throw LineFailure(.malformedLine, "priority must be 10, 5 or 1")
        }
        let longest = pushType == "voip" ? Self.longestCallPayload : Self.longestPayload
        guard text.count <= longest else {
            throw LineFailure(
                .requestRefused, "the payload has \(text.count) bytes, and APNs takes \(longest): shorten it")
        }
        guard collapseID.map({ $0.utf8.count <= Self.longestCollapseID }) ?? true else {
            throw LineFailure(.requestRefused, "collapse_id has more than \(Self.longestCollapseID) bytes")
        }
        self.init(
            deviceToken: token, topic: topic, expiration: expiration ?? 0, payload: text, isClear: !payload.isSealed)
        headers.reserveCapacity(5)
        try add("apns-topic", topic)
        try add("apns-push-type", pushType ?? "alert")
        if let priority { try add("apns-priority", "\(priority)") }
        if let expiration { try add("apns-expiration", "\(expiration)") }
        if let collapseID { try add("apns-collapse-id", collapseID) }
    }

    private mutating func add(_ name: String, _ value: String) throws(LineFailure) {
        guard (1...Self.longestValue).contains(value.utf8.count), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            value.utf8.first != 0x20, value.utf8.last != 0x20
        else { throw LineFailure(.malformedLine, "\(name) must be a text of printable characters") }
        headers.append((name, value))
    }
}
