/// A fully validated JSON text, with the position of every value in it.
///
/// Parsing checks all of RFC 8259, and also refuses everything on which two parsers could disagree: invalid UTF-8, a
/// byte order mark, unpaired surrogates, and two equal names in one object at any level, compared after unescaping. The
/// bytes are kept as they are: ``JSONValue`` reads numbers and strings on demand. Parsing takes linear time, except
/// n·log n for the names of one object, and 12 bytes of memory for each value and each name.
package struct JSONDocument: Sendable {
    /// The maximum nesting of objects and arrays: the format's limit (`Docs/Format.md`, Body), which keeps the stack
    /// small here and in other receivers.
    package static let maximumDepth = 32

    /// The default limit in bytes: 1 MiB, two hundred times the largest push payload. A payload that is too long is
    /// then refused by its own rule, which can say by how much, and a stray file takes little memory.
    package static let defaultMaximumBytes = 1 << 20

    /// Offsets have 32 bits.
    private static let largestMaximum = Int(Int32.max)

    /// The text as given.
    package let bytes: ContiguousArray<UInt8>

    /// All values and names in the order of the text; see ``JSONNode``.
    let nodes: ContiguousArray<JSONNode>

    /// Whether a string or name has an escape; few texts have one.
    let hasEscapes: Bool

    /// Parses a text that is one JSON value, with white space around it.
    ///
    /// - Throws: ``JSONError``; `too-large` before reading a byte.
    package init(
        parsing bytes: ContiguousArray<UInt8>, maximumBytes: Int = JSONDocument.defaultMaximumBytes,
        maximumDepth: Int = JSONDocument.maximumDepth
    ) throws(JSONError) {
        let maximum = min(maximumBytes, Self.largestMaximum)
        guard bytes.count <= maximum else { throw JSONError(.tooLarge, at: maximum) }
        var parser = JSONParser(bytes, maximumDepth: maximumDepth)
        try parser.parseDocument()
        self.bytes = bytes
        self.nodes = parser.nodes
        hasEscapes = parser.hasEscapes
    }

    /// The value of the whole text.
    package var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// The position of one value or name in a document.
///
/// The nodes of a document are in the order of their first bytes: an array is followed by its elements, an object by
/// name, value, name, value. The node at `index` and everything inside it are the nodes `index ..< next`.
struct JSONNode {
    /// The offset of the value's first byte, which also determines its kind.
    var start: Int32
    /// The offset after the value's last byte.
    var end: Int32
    /// The index of the first node after this one and everything inside it.
    var next: Int32
}

extension JSONNode {
    /// The offsets of the node's bytes.
    var range: Range<Int> { Int(start)..<Int(end) }

    /// The offsets of a string without its quotes.
    var characters: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}
