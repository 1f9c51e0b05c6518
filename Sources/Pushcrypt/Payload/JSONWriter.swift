/// Builds a JSON text from the outside in.
///
/// What is written is UTF-8 with nothing escaped but what RFC 8259 requires. It does not look for names that repeat. The
/// caller's duty is to write one value, and to give names inside objects and nowhere else.
///
///     var json = JSONWriter()
///     json.object { json in
///         json.object(for: "aps") { json in json.integer(1, for: "mutable-content") }
///         json.raw(payload, for: "pushcrypt")
///     }
package struct JSONWriter: Sendable {
    /// What has been written so far.
    package var bytes: ContiguousArray<UInt8> = []

    private let pretty: Bool
    private var depth = 0
    /// Nothing stands before the next value in its object or array.
    private var isFirst = true

    /// Starts an empty text.
    ///
    /// - Parameter pretty: for a person at a terminal: one member a line, indented by two spaces; strings of documents
    ///   shown without needless escapes; escaped, on the other hand, what would act on the terminal or reorder the line.
    package init(pretty: Bool = false) {
        self.pretty = pretty
    }
}

// MARK: Objects and arrays

extension JSONWriter {
    /// Writes an object with the members that the closure writes.
    package mutating func object(for name: String? = nil, _ members: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "{"), for: name)
        members(&self)
        end(UInt8(ascii: "}"))
    }

    /// Writes an array with the elements that the closure writes.
    package mutating func array(for name: String? = nil, _ elements: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "["), for: name)
        elements(&self)
        end(UInt8(ascii: "]"))
    }

    private mutating func begin(_ bracket: UInt8, for name: String?) {
        prepareValue(for: name)
        bytes.append(bracket)
        depth += 1
        isFirst = true
    }

    private mutating func end(_ bracket: UInt8) {
        depth -= 1
        if !isFirst { breakLine() }
        bytes.append(bracket)
        isFirst = false
    }
}

// MARK: Scalars and values that exist already

extension JSONWriter {
    /// Writes a string.
    package mutating func string(_ text: String, for name: String? = nil) {
        prepareValue(for: name)
        appendString(text)
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

    /// Writes bytes that are one JSON value already, as they are.
    package mutating func raw(_ value: ContiguousArray<UInt8>, for name: String? = nil) {
        prepareValue(for: name)
        bytes.append(contentsOf: value)
    }

    /// Writes a value of a document. A compact text gets it minified: its numbers and strings keep their bytes.
    package mutating func raw(_ value: JSONValue, for name: String? = nil) {
        switch value.kind {
        case .object where pretty:
            object(for: name) { json in
                for member in value.members { json.raw(member.value, for: member.name) }
            }
        case .array where pretty:
            array(for: name) { json in
                for element in value.elements { json.raw(element) }
            }
        case .string where pretty:
            string(value.string ?? "", for: name)
        default:
            prepareValue(for: name)
            value.appendMinified(to: &bytes)
        }
    }
}

// MARK: Text

extension JSONWriter {
    /// Writes what stands before a value: a comma, a new line, its name.
    private mutating func prepareValue(for name: String?) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        if depth > 0 { breakLine() }
        guard let name else { return }
        appendString(name)
        bytes.append(UInt8(ascii: ":"))
        if pretty { bytes.append(UInt8(ascii: " ")) }
    }

    private mutating func breakLine() {
        guard pretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func appendString(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: { Self.mayNeedEscape($0, pretty) }) {
            for scalar in text.unicodeScalars { appendCharacter(scalar) }
        } else {
            bytes.append(contentsOf: text.utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendCharacter(_ scalar: Unicode.Scalar) {
        guard mustEscape(scalar) else {
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

    /// Whether a text with this byte has to be written character by character.
    private static func mayNeedEscape(_ byte: UInt8, _ pretty: Bool) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || pretty && byte >= 0x7F
    }

    private func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x22, 0x5C, ..<0x20: true
        // DEL and the C1 controls, some of which start a terminal's commands; marks that reverse or isolate what
        // follows.
        case 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: pretty
        default: false
        }
    }
}
