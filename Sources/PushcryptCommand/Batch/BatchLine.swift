package import Pushcrypt
package import PushcryptCommandKit

/// One line of a batch: the members for this program, and those that are passed through.
package struct BatchLine {
    /// The length limit of a line in bytes.
    package static let maximumLength = JSONDocument.defaultMaximumBytes

    /// One more than a payload's, which is inside the line.
    private static let maximumDepth = JSONDocument.maximumDepth + 1

    /// The members for this program; their types are not checked yet. A list, because comparing a name with these few takes
    /// less time than hashing it.
    private var members: [JSONMember] = []
    /// The members that are passed through, in order.
    private(set) var passed: [JSONMember] = []
    /// The first member that cannot be passed through, because the answer may have one of this name.
    private var reservedName: String?
    /// The name of what may be the payload, if the line has none.
    private var misspeltPayload: String?
    private let warning: OnceWarning?

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - names: The members for this program, which are not passed through.
    ///   - reserved: The members that an answer may have, which a line must not bring.
    ///   - warning: Tells of members that look like mistakes; nil if nobody is told.
    package init(
        _ text: ContiguousArray<UInt8>, names: Set<String>, reserved: Set<String>, _ warning: OnceWarning? = nil
    ) throws(LineFailure) {
        self.warning = warning
        let document: JSONDocument
        // What only an answer that is an error has.
        var failure: [JSONMember] = []
        do throws(JSONError) {
            document = try JSONDocument(
                parsing: text, maximumBytes: Self.maximumLength, maximumDepth: Self.maximumDepth)
        } catch {
            throw LineFailure(error)
        }
        guard document.root.kind == .object else {
            throw LineFailure(.malformedLine, "a line of a batch is a JSON object")
        }
        let written = document.root.writtenMembers
        members.reserveCapacity(written.count)
        for member in written {
            if names.contains(member.name) {
                members.append(member)
            } else if LineFailure.members.contains(member.name) {
                failure.append(member)
            } else if reserved.contains(member.name) {
                reservedName = reservedName ?? member.name
            } else {
                passed.append(member)
            }
        }
        if names.contains("payload"), value("payload") == nil {
            misspeltPayload = passed.first { Self.isNearly("payload", $0.name) }?.name
            // Passed on, it would be in the clear.
            passed.removeAll { Self.isNearly("payload", $0.name) }
        }
        for name in passed.lazy.map(\.name) {
            guard let meant = names.first(where: { Self.isNearly($0, name) }) else { continue }
            warn("\(quoted(name)) in a line is passed on as it is; if it means '\(meant)', write that")
        }
        if LineFailure.hasWritten(failure) {
            // Added by an earlier run: a line that failed can be given again as it is.
            // A phone whose registration was refused has a reply.
            if reservedName == "reply" { reservedName = nil }
        } else {
            reservedName = failure.first?.name ?? reservedName
        }
    }

    /// Whether a name is another in other letter case, or one of at least three letters with one letter wrong, missing, too many
    /// or exchanged with its neighbour.
    static func isNearly(_ name: String, _ other: String) -> Bool {
        guard abs(name.utf8.count - other.utf8.count) <= 1 else { return false }
        let (a, b) = (name.utf8.map(folded), other.utf8.map(folded))
        return a == b || min(a.count, b.count) >= 3 && editDistance(a, b) <= 1
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "_"): UInt8(ascii: "-")
        default: byte
        }
    }

    package subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// Says once in a run what looks like a mistake.
    func warn(_ text: @autoclosure () -> String) { warning?.give(text()) }

    // Null counts as missing.

    package func value(_ name: String) -> JSONValue? { self[name].flatMap { $0.kind == .null ? nil : $0 } }

    package func text(_ name: String) throws(LineFailure) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw LineFailure(.malformedLine, "\(name) must be a string") }
        return text
    }

    /// Returns the payload, of any kind; throws if the line has none.
    package func payload() throws(LineFailure) -> JSONValue {
        guard let payload = value("payload") else {
            let hint = misspeltPayload.map { ": write \(quoted($0)) as 'payload'" } ?? ""
            throw LineFailure(.malformedLine, "the line has no payload\(hint)")
        }
        return payload
    }

    /// Returns a text, or the digits of a number: the caller's ids are often numbers.
    func name(_ name: String) throws(LineFailure) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.asName else {
            throw LineFailure(.malformedLine, "\(name) must be a string, or a number of digits alone")
        }
        return text
    }

    /// Returns a whole number, 0 or more.
    package func number(_ name: String) throws(LineFailure) -> UInt64? {
        guard let value = value(name) else { return nil }
        guard let number = value.wholeNumber.flatMap(UInt64.init(exactly:)) else {
            throw LineFailure(.malformedLine, "\(name) must be a whole number")
        }
        return number
    }

    func flag(_ name: String) throws(LineFailure) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.flag else { throw LineFailure(.malformedLine, "\(name) must be true or false") }
        return flag
    }

    /// Refuses a line that brings a reserved member.
    package func refuseReserved() throws(LineFailure) {
        guard let reservedName else { return }
        throw LineFailure(.reservedKey, "the key \(quoted(reservedName)) is one of the answer's: rename yours")
    }

    // Members are written without white space between tokens: a line break there would end the answer's line.

    /// Writes the members with these names.
    package func write(_ names: [String], to json: inout JSONWriter) {
        for name in names {
            if let value = self[name] { json.raw(value, for: name, keepingStrings: true) }
        }
    }

    /// Writes the members that are passed through.
    package func writePassed(to json: inout JSONWriter) {
        for member in passed { json.member(member) }
    }
}

extension JSONValue {
    /// A text, or the digits of a number.
    package var asName: String? {
        guard kind == .number else { return string }
        let text = minified()
        return text.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            ? String(decoding: text, as: UTF8.self) : nil
    }
}

/// The reason why one message of a batch was refused.
package struct LineFailure: Error {
    package let code: String
    package let message: String

    package static let lineTooLong = lineTooLong(maximum: BatchLine.maximumLength)

    static func lineTooLong(maximum: Int) -> LineFailure {
        LineFailure(.lineTooLong, "a line has at most \(maximum) bytes")
    }

    static let noKey = LineFailure(
        .noKey, "the device has no key to seal to: register it, or send its pushes unsealed with --unencrypted pass")

    static let noNamedSigner = LineFailure(
        .malformedLine, "sign_with names a provider key of the store, and here another key signs: leave it out")

    static let noAnswers = LineFailure(
        .malformedLine, "no store has the secret that opens answers: seal with a store, or leave answerable out")

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: some CodedError) { self.init(code: error.code.description, message: error.description) }

    /// Creates a line's failure from one that would end the command for a single device.
    init(_ failure: CommandFailure) {
        if let cause = failure.cause as? any CodedError {
            self.init(cause)
        } else {
            self.init(code: failure.code, message: failure.message)
        }
    }

    package init(_ code: SendCode, _ message: String) { self.init(code: code.rawValue, message: message) }

    package init(_ code: LineError.Code, _ message: String) {
        self.init(LineError(code, message))
    }

    /// The members of an answer that describe a failure.
    static let members: Set = ["error", "line"]

    /// Writes the members `error` and `line`.
    package func write(line number: Int, to json: inout JSONWriter) {
        json.object(for: "error") { json in
            json.string(code, for: "code")
            json.string(SecretText.removed(from: message), for: "message")
        }
        json.integer(number, for: "line")
    }

    /// Whether these members are as `write` writes them, and do not only have the names.
    static func hasWritten(_ members: [JSONMember]) -> Bool {
        guard let error = members.first(where: { $0.name == "error" })?.value,
            members.first(where: { $0.name == "line" })?.value.integer != nil
        else { return false }
        let members = error.members
        return members.map(\.name) == ["code", "message"] && members.allSatisfy { $0.value.kind == .string }
    }
}

/// An error of a line itself. Errors with equal codes are equal.
package struct LineError: CodedError {
    /// The reason.
    package struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedLine = "malformed-line"
            case lineTooLong = "line-too-long"
            case reservedKey = "reserved-key"
            case noDevice = "no-device"
            case noKey = "no-key"
            case noTopic = "no-topic"
            case overflowFailed = "overflow-failed"
        }

        private let known: Known

        /// Not an object, or one with a wrong member.
        package static let malformedLine = Code(known: .malformedLine)
        /// Longer than a line may be.
        static let lineTooLong = Code(known: .lineTooLong)
        /// A member to pass through has the name of one of the answer's.
        package static let reservedKey = Code(known: .reservedKey)
        /// The user has no devices.
        static let noDevice = Code(known: .noDevice)
        /// The device has no key to seal to.
        static let noKey = Code(known: .noKey)
        /// The line, the command line and the keys have no topic.
        static let noTopic = Code(known: .noTopic)
        /// The file of a long body cannot be written.
        static let overflowFailed = Code(known: .overflowFailed)

        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        package var description: String { known.rawValue }
    }

    package let code: Code
    /// What to do; contains no bytes of a payload.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
