/// One value of a ``JSONDocument``, read from the text on demand.
///
/// It keeps its document alive. Accessors never fail: for a value of another kind they return `nil` or an empty array.
package struct JSONValue: Sendable {
    /// The kinds of value in RFC 8259.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    let document: JSONDocument
    let index: Int

    private var node: JSONNode { document.nodes[index] }

    package var kind: Kind {
        switch document.bytes[range.lowerBound] {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// The offsets of the value's bytes in the document.
    package var range: Range<Int> { node.range }
}

// MARK: Scalars

extension JSONValue {
    /// The unescaped characters of a string.
    package var string: String? {
        guard kind == .string else { return nil }
        return document.text(of: node)
    }

    /// The unescaped characters of a string in UTF-8, for a long text that is only decoded.
    var characters: ContiguousArray<UInt8>? {
        guard kind == .string else { return nil }
        return document.characters(of: node)
    }

    /// `true` or `false`.
    package var bool: Bool? {
        guard kind == .bool else { return nil }
        return document.bytes[range.lowerBound] == UInt8(ascii: "t")
    }

    /// A number that is written without fraction and exponent and fits into 64 bits; nil for `1.0`, `1e0` and `-0`.
    package var integer: Int64? {
        guard kind == .number, !document.bytes[range].elementsEqual("-0".utf8) else { return nil }
        return Int64(String(decoding: document.bytes[range], as: UTF8.self))
    }

    /// The value of a number that is whole, however it is written: `3`, `3.0` and `3e0` are 3. Of forms other than digits
    /// alone, the nearest double counts, and it must be below 2^53.
    package var wholeNumber: Int64? {
        if let integer { return integer }
        guard let double, double == double.rounded(), double.magnitude < 0x1p53 else { return nil }
        return Int64(double)
    }

    /// `true` or `false`, or the number 1 or 0.
    package var flag: Bool? {
        switch wholeNumber {
        case 0?: false
        case 1?: true
        default: bool
        }
    }

    /// The double nearest to a number; `nil` if the number is too large, such as `1E400`.
    package var double: Double? {
        guard kind == .number, let double = Double(String(decoding: document.bytes[range], as: UTF8.self)),
            double.isFinite
        else { return nil }
        return double
    }
}

extension JSONValue {
    /// Whether every number in the value is in the range of a double.
    package var hasDoublesOnly: Bool {
        switch kind {
        case .number: double != nil
        case .array: elements.allSatisfy(\.hasDoublesOnly)
        case .object:
            childIndices(step: 2).allSatisfy { JSONValue(document: document, index: $0 + 1).hasDoublesOnly }
        case .string, .bool, .null: true
        }
    }
}

// MARK: Objects and arrays

extension JSONValue {
    /// The value of the member with this name; names are compared byte by byte after unescaping.
    package subscript(_ name: String) -> JSONValue? {
        guard kind == .object else { return nil }
        var name = name
        let member = name.withUTF8 { name in
            childIndices(step: 2).first {
                JSONText.isEqual(document.nodes[$0].characters, in: document.bytes, to: unsafe name.span)
            }
        }
        return member.map { JSONValue(document: document, index: $0 + 1) }
    }

    /// The value of the member with this name; nil if it is missing or null.
    package func member(_ name: String) -> JSONValue? { self[name].flatMap { $0.kind == .null ? nil : $0 } }

    /// The members of an object in the order of the text.
    package var members: [(name: String, value: JSONValue)] {
        guard kind == .object else { return [] }
        var members: [(name: String, value: JSONValue)] = []
        members.reserveCapacity(childIndices(step: 2).count { _ in true })
        for member in childIndices(step: 2) {
            let name = document.text(of: document.nodes[member])
            members.append((name, JSONValue(document: document, index: member + 1)))
        }
        return members
    }

    /// The elements of an array in the order of the text.
    package var elements: [JSONValue] {
        guard kind == .array else { return [] }
        return childIndices(step: 1).map { JSONValue(document: document, index: $0) }
    }

    /// Returns the indices of the nodes directly inside; with step 2, those of the names of an object.
    func childIndices(step: Int) -> ChildIndices {
        ChildIndices(nodes: document.nodes, step: step, end: Int(node.next), index: index + 1)
    }

    struct ChildIndices: Sequence, IteratorProtocol {
        let nodes: ContiguousArray<JSONNode>
        let step: Int
        let end: Int
        var index: Int

        mutating func next() -> Int? {
            guard index < end else { return nil }
            defer { index = Int(nodes[index + step - 1].next) }
            return index
        }
    }
}

// MARK: Minified text

extension JSONValue {
    /// Returns the value with the fewest bytes: without white space between tokens, and with the escapes alone that a
    /// string needs. Numbers keep their bytes. (S-7)
    package func minified() -> ContiguousArray<UInt8> {
        var output = ContiguousArray<UInt8>()
        output.reserveCapacity(range.count)
        appendMinified(to: &output)
        return output
    }

    /// Appends the value with the fewest bytes, or only without white space between tokens.
    package func appendMinified(to output: inout ContiguousArray<UInt8>, keepingStrings: Bool = false) {
        let bytes = document.bytes
        // The next copy starts at `start`; the text up to `position` has been checked. White space is only between
        // scalars.
        var start = range.lowerBound
        var position = start
        func copy(upTo end: Int) {
            if start < end { output.append(contentsOf: bytes[start..<end]) }
        }
        func skipWhiteSpace(upTo end: Int) {
            while position < end {
                if JSONText.isWhiteSpace(bytes[position]) {
                    copy(upTo: position)
                    start = position + 1
                }
                position += 1
            }
        }
        for node in document.nodes[index..<Int(node.next)] where node.isScalar(in: bytes) {
            skipWhiteSpace(upTo: Int(node.start))
            position = Int(node.end)
            if document.hasEscapes, !keepingStrings, bytes[node.range].contains(UInt8(ascii: "\\")) {
                copy(upTo: Int(node.start))
                JSONWriter.append(document.text(of: node), to: &output)
                start = position
            }
        }
        skipWhiteSpace(upTo: range.upperBound)
        copy(upTo: range.upperBound)
    }
}

extension JSONNode {
    fileprivate func isScalar(in bytes: ContiguousArray<UInt8>) -> Bool {
        let first = bytes[Int(start)]
        return first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
    }
}

extension JSONDocument {
    /// Returns the characters of a string or name.
    func text(of node: JSONNode) -> String {
        let characters = node.characters
        // The closing quote ends plain text, so this stays inside.
        let rest = JSONText.endOfPlainText(in: bytes, from: characters.lowerBound)..<characters.upperBound
        guard bytes[rest].contains(UInt8(ascii: "\\")) else {
            return String(decoding: bytes[characters], as: UTF8.self)
        }
        return String(decoding: ContiguousArray(JSONUnescaped(bytes, in: characters)), as: UTF8.self)
    }

    /// Returns the UTF-8 bytes of a string, unescaped.
    fileprivate func characters(of node: JSONNode) -> ContiguousArray<UInt8> {
        let characters = node.characters
        // The closing quote ends plain text.
        if JSONText.endOfPlainText(in: bytes, from: characters.lowerBound) == characters.upperBound {
            return ContiguousArray(bytes[characters])
        }
        return ContiguousArray(JSONUnescaped(bytes, in: characters))
    }
}
