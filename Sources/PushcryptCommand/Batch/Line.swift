package import Pushcrypt
package import PushcryptCommandKit

/// One line of a batch: the members for this program, and those that are passed through.
package struct Line {
    /// The length limit of a line in bytes.
    package static let maximumLength = JSONDocument.defaultMaximumBytes

    /// One more than a payload's, which is inside the line.
    private static let maximumDepth = JSONDocument.maximumDepth + 1

    /// The line's number in the input, from 1.
    package let number: Int
    /// The line, if it is the name of a recipient and not an object.
    let name: String?
    /// Whether the line was listed from a store, so its device may have been removed since.
    var isListed: Bool { form.content == .ids }

    private let form: LineForm
    /// The members for this program; their types are not checked yet. A list, because comparing a name with these few takes
    /// less time than hashing it.
    private var members: [JSONMember] = []
    /// The members that are passed through, in order.
    private(set) var passed: [JSONMember] = []
    /// The reason that the line is refused, whatever its members say.
    private var failure: Failure?
    /// Whether the line is an error that an earlier run wrote.
    package private(set) var isRepeated = false
    /// The name of what may be the payload, if the line has none.
    private var misspeltPayload: String?

    /// Reads a line; nil for one that is too long. `check` throws if the line is invalid.
    package init(_ number: Int, _ text: ContiguousArray<UInt8>?, _ form: LineForm) {
        (self.number, self.form) = (number, form)
        guard let text else {
            (name, failure) = (nil, Failure(.lineTooLong, "a line has at most \(form.maximumLength) bytes"))
            return
        }
        switch form.content {
        // Always an id, even if it looks like a key: someone who can write the database must not name a key.
        case .ids: name = String(decoding: text, as: UTF8.self)
        case .recipients where text.first != UInt8(ascii: "{"):
            name = String(decoding: text.last == UInt8(ascii: "\r") ? text.dropLast() : text[...], as: UTF8.self)
        case .recipients, .objects:
            name = nil
            do { try parse(text) } catch { failure = Failure(error) }
        }
    }

    private mutating func parse(_ text: ContiguousArray<UInt8>) throws {
        let root = try JSONDocument(
            parsing: text, maximumBytes: Self.maximumLength, maximumDepth: Self.maximumDepth
        ).root
        guard root.kind == .object else { throw Failure(.malformedLine, "a line of a batch is a JSON object") }
        let written = root.writtenMembers
        isRepeated = Failure.isWritten(in: written)
        var reserved: String?
        members.reserveCapacity(written.count)
        for member in written {
            if form.names.read.contains(member.name) {
                members.append(member)
            } else if !form.names.added.contains(member.name) {
                passed.append(member)
            } else if !isRepeated || !LineNames.ofFailures.contains(member.name) {
                // Members that an earlier run added are dropped, so a failed line can be given again as it is.
                reserved = reserved ?? member.name
            }
        }
        if form.names.read.contains("payload"), value("payload") == nil {
            misspeltPayload = passed.first { Self.isNearly("payload", $0.name) }?.name
            // Passed through, it would be in the clear.
            passed.removeAll { Self.isNearly("payload", $0.name) }
        }
        for name in passed.lazy.map(\.name) {
            guard let meant = form.names.read.first(where: { Self.isNearly($0, name) }) else { continue }
            warn("\(quoted(name)) in a line is passed on as it is; if it means '\(meant)', write that")
        }
        if let reserved {
            failure = Failure(.reservedKey, "the key \(quoted(reserved)) is one of the answer's: rename yours")
        }
    }

    /// Throws if the line is invalid.
    package func check() throws { if let failure { throw failure } }

    package subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// Warns, once in a run, of a likely mistake.
    func warn(_ text: @autoclosure () -> String) { form.console?.warningOnce(text(), kind: "line") }

    /// Whether two names differ only in case, or, with at least three letters, by one letter that is wrong, missing, extra or
    /// swapped with its neighbour.
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
}

/// How the lines of an input are read.
package struct LineForm: Sendable {
    enum Content: Sendable {
        case objects
        /// An id, a public key, or an object.
        case recipients
        /// The id of a device.
        case ids
    }

    let names: LineNames
    var content = Content.objects
    /// The longest line in bytes.
    var maximumLength = Line.maximumLength
    /// Where to warn of likely mistakes; nil for no warnings.
    let console: Console?

    package init(_ names: LineNames, _ console: Console? = nil) { (self.names, self.console) = (names, console) }
}

// MARK: Members

extension Line {
    // Null counts as missing.

    package func value(_ name: String) -> JSONValue? { self[name].flatMap { $0.kind == .null ? nil : $0 } }

    /// Reads a value, if the line has one that is not null; refuses one that is not `what`.
    package func read<T>(_ name: String, _ what: String, _ read: (JSONValue) -> T?) throws -> T? {
        guard let value = value(name) else { return nil }
        guard let read = read(value) else { throw Failure(.malformedLine, "\(name) must be \(what)") }
        return read
    }

    package func text(_ name: String) throws -> String? { try read(name, "a string", \.string) }

    /// Returns a text, or the digits of a number: the caller's ids are often numbers.
    package func name(_ name: String) throws -> String? {
        try read(name, "a string, or a number of digits alone", \.asName)
    }

    /// Returns a whole number, 0 or more.
    package func number(_ name: String) throws -> UInt64? {
        try read(name, "a whole number") { $0.wholeNumber.flatMap(UInt64.init(exactly:)) }
    }

    /// Returns the payload, an object; throws if the line has none.
    package func payload(hint: String = "") throws -> JSONValue {
        guard let payload = value("payload") else {
            let hint = misspeltPayload.map { ": write \(quoted($0)) as 'payload'" } ?? ""
            throw Failure(.malformedLine, "the line has no payload\(hint)")
        }
        guard payload.kind == .object else { throw Failure(.malformedLine, "payload must be a JSON object\(hint)") }
        return payload
    }

    // Members are written without white space between tokens: a line break there would end the answer's line.

    /// Writes the members with these names.
    package func write(_ names: [String], to json: inout JSONWriter) {
        for name in names {
            if let value = self[name] { json.raw(value, for: name, keepingStrings: true) }
        }
    }

    /// Writes the members that are passed through.
    package func writePassed(to json: inout JSONWriter) { for member in passed { json.member(member) } }
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
