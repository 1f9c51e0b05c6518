/// Builds a JSON text from the outside in.
///
/// Writes UTF-8 and escapes only what RFC 8259 requires. Does not check for repeated names. The caller writes exactly
/// one value, and gives names inside objects and nowhere else.
///
///     var json = JSONWriter()
///     json.object { json in
///         json.object(for: "aps") { json in json.integer(1, for: "mutable-content") }
///         json.raw(payload, for: "pushcrypt")
///     }
package struct JSONWriter: Sendable {
    /// The text so far.
    package var bytes: ContiguousArray<UInt8> = []

    /// Whether the next value is the first of its object or array.
    private var isFirst = true

    /// Starts an empty text.
    package init() {}
}

// MARK: Objects and arrays

extension JSONWriter {
    /// Writes an object, whose members the closure writes.
    package mutating func object(for name: String? = nil, _ members: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "{"), for: name)
        members(&self)
        end(UInt8(ascii: "}"))
    }

    /// Writes an array, whose elements the closure writes.
    package mutating func array(for name: String? = nil, _ elements: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "["), for: name)
        elements(&self)
        end(UInt8(ascii: "]"))
    }

    private mutating func begin(_ bracket: UInt8, for name: String?) {
        prepareValue(for: name)
        bytes.append(bracket)
        isFirst = true
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        isFirst = false
    }
}

// MARK: Scalars and existing values

extension JSONWriter {
    /// Writes a string.
    package mutating func string(_ text: String, for name: String? = nil) {
        prepareValue(for: name)
        Self.append(text, to: &bytes)
    }

    /// Writes an integer.
    package mutating func integer(_ number: some BinaryInteger, for name: String? = nil) {
        prepareValue(for: name)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool, for name: String? = nil) {
        prepareValue(for: name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes `null`.
    package mutating func null(for name: String? = nil) {
        prepareValue(for: name)
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes bytes that are already a JSON value.
    package mutating func raw(_ value: ContiguousArray<UInt8>, for name: String? = nil) {
        prepareValue(for: name)
        bytes.append(contentsOf: value)
    }

    /// Writes a value of a document, minified.
    package mutating func raw(_ value: JSONValue, for name: String? = nil, keepingStrings: Bool = false) {
        prepareValue(for: name)
        value.appendMinified(to: &bytes, keepingStrings: keepingStrings)
    }
}

// MARK: Text

extension JSONWriter {
    /// Writes the comma and the name before a value.
    private mutating func prepareValue(for name: String?) {
        separate()
        guard let name else { return }
        Self.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a comma, except before the first value.
    mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    /// Appends a string with the fewest bytes.
    static func append(_ text: String, to bytes: inout ContiguousArray<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        let isWritten = text.withUTF8 { characters in
            guard unsafe !characters.contains(where: Self.mustEscape) else { return false }
            unsafe bytes.append(contentsOf: characters)
            return true
        }
        if !isWritten { for scalar in text.unicodeScalars { append(scalar, to: &bytes) } }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout ContiguousArray<UInt8>) {
        guard scalar.isASCII, mustEscape(UInt8(ascii: scalar)) else {
            bytes.append(contentsOf: String(scalar).utf8)
            return
        }
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case "\"", "\\": bytes.append(UInt8(ascii: scalar))
        case "\u{8}": bytes.append(UInt8(ascii: "b"))
        case "\u{C}": bytes.append(UInt8(ascii: "f"))
        case "\n": bytes.append(UInt8(ascii: "n"))
        case "\r": bytes.append(UInt8(ascii: "r"))
        case "\t": bytes.append(UInt8(ascii: "t"))
        default:
            let digits = String(scalar.value, radix: 16)
            bytes.append(UInt8(ascii: "u"))
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, 4 - digits.utf8.count)))
            bytes.append(contentsOf: digits.utf8)
        }
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}

/// A member of a parsed object, for writing it to another.
package struct JSONMember: Sendable {
    /// The name, unescaped.
    package let name: String
    package let value: JSONValue

    fileprivate let nameRange: Range<Int>

    /// Appends the name and the value without white space between tokens; names, strings and numbers keep their bytes.
    fileprivate func append(to output: inout ContiguousArray<UInt8>) {
        output.append(contentsOf: value.document.bytes[nameRange])
        output.append(UInt8(ascii: ":"))
        value.appendMinified(to: &output, keepingStrings: true)
    }
}

extension JSONValue {
    /// The members of an object in the order of the text, for writing them to another.
    package var writtenMembers: [JSONMember] {
        guard kind == .object else { return [] }
        var members: [JSONMember] = []
        members.reserveCapacity(childIndices(step: 2).count { _ in true })
        for member in childIndices(step: 2) {
            let node = document.nodes[member]
            members.append(
                JSONMember(
                    name: document.text(of: node), value: JSONValue(document: document, index: member + 1),
                    nameRange: node.range))
        }
        return members
    }

    /// The value's bytes in the text.
    package var written: ContiguousArray<UInt8> { ContiguousArray(document.bytes[range]) }
}

extension JSONWriter {
    /// Writes a member of another object without white space between tokens; its name, numbers and strings keep their
    /// bytes.
    package mutating func member(_ member: JSONMember) {
        separate()
        member.append(to: &bytes)
    }
}
