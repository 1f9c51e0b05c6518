/// A JSON text that has been checked completely, with the place of every value in it.
///
/// Parsing checks all of RFC 8259 and, beyond it, what makes two readers disagree: UTF-8 is validated strictly, a byte
/// order mark and half surrogate pairs are refused, and so are two equal names in one object, at every level, compared
/// after unescaping. It does not change a byte: numbers and strings stay as they were written, and ``JSONValue`` reads
/// them on demand. Time is linear in the text but for the names of one object, n·log n. Memory is 12 bytes for each
/// value and each name.
package struct JSONDocument: Sendable {
    /// How many objects and arrays may stand inside each other: the format's limit (`Docs/Format.md`, Body), which
    /// keeps the stack small here and in receivers that other people write.
    package static let maximumDepth = 32

    /// The bytes that are taken when the caller names no other maximum: 1 MiB, two hundred times the largest push
    /// payload, so that a payload that is too long is refused by its own rule, which can say by how much, and a stray
    /// file costs little memory.
    package static let defaultMaximumBytes = 1 << 20

    /// Offsets are kept in 32 bits.
    private static let largestMaximum = Int(Int32.max)

    /// The text as it was given.
    package let bytes: ContiguousArray<UInt8>

    /// Every value and every name, in the order of the text; see ``JSONNode``.
    let nodes: ContiguousArray<JSONNode>

    /// Parses one JSON value, with white space around it, and nothing else.
    ///
    /// - Throws: ``JSONError``; `too-large` before a byte is read.
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
    }

    /// The value that the text is.
    package var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// The place of one value or name in a document.
///
/// The nodes of a document stand in the order in which the text opens them: an array is followed by its elements, an
/// object by name, value, name, value. Whatever belongs to the node at `index` is `index ..< next`.
struct JSONNode {
    /// The offset of the value's first byte, which also tells its kind.
    var start: Int32
    /// The offset after the value's last byte.
    var end: Int32
    /// The index of the first node that is no part of this one.
    var next: Int32
}

extension JSONNode {
    /// Where the node's bytes stand.
    var range: Range<Int> { Int(start)..<Int(end) }

    /// Where the characters of a string stand, without its quotes.
    var characters: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}
