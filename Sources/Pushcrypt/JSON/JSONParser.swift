/// Checks a text against the grammar of RFC 8259 and records the position of each value, in one pass.
///
/// A recursive-descent parser, whose depth the caller limits to ``JSONDocument/maximumDepth`` or little more. Every
/// read is preceded by a comparison with the end of the text.
struct JSONParser {
    private let bytes: ContiguousArray<UInt8>
    private let maximumDepth: Int
    private var position = 0
    private(set) var nodes: ContiguousArray<JSONNode> = []
    private(set) var hasEscapes = false

    /// The caller has checked that offsets fit into 32 bits.
    init(_ bytes: ContiguousArray<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        // Payloads have a value or name about every ten bytes, so one allocation is nearly always enough.
        nodes.reserveCapacity(8 + bytes.count / 8)
    }

    mutating func parseDocument() throws(JSONError) {
        try refuseByteOrderMark()
        try parseValue(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
    }

    private func refuseByteOrderMark() throws(JSONError) {
        switch (bytes.first, bytes.dropFirst().first, bytes.dropFirst(2).first) {
        case (0xEF, 0xBB, 0xBF), (0xFE, 0xFF, _), (0xFF, 0xFE, _): throw JSONError(.byteOrderMark, at: 0)
        default: return
        }
    }

    private mutating func parseValue(depth: Int) throws(JSONError) {
        switch try nextToken() {
        case UInt8(ascii: "{"): try parseObject(depth: depth + 1)
        case UInt8(ascii: "["): try parseArray(depth: depth + 1)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        case UInt8(ascii: "t"): try parseLiteral("true")
        case UInt8(ascii: "f"): try parseLiteral("false")
        case UInt8(ascii: "n"): try parseLiteral("null")
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }
}

// MARK: Objects and arrays

extension JSONParser {
    private mutating func parseObject(depth: Int) throws(JSONError) {
        let object = try openContainer(depth: depth)
        var members = 0
        var token = try nextToken()
        if token != UInt8(ascii: "}") {
            while true {
                guard token == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
                try parseString()
                guard try nextToken() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
                position += 1
                try parseValue(depth: depth)
                members += 1
                token = try nextToken()
                if token == UInt8(ascii: "}") { break }
                guard token == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: position) }
                position += 1
                token = try nextToken()
            }
        }
        closeContainer(object)
        if members > 1, let offset = JSONNames.firstRepeated(in: object, members: members, nodes: nodes, bytes: bytes) {
            throw JSONError(.duplicateName, at: offset)
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) {
        let array = try openContainer(depth: depth)
        if try nextToken() != UInt8(ascii: "]") {
            while true {
                try parseValue(depth: depth)
                let token = try nextToken()
                if token == UInt8(ascii: "]") { break }
                guard token == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: position) }
                position += 1
            }
        }
        closeContainer(array)
    }

    /// Consumes the opening bracket; the end of the node is set when it closes.
    private mutating func openContainer(depth: Int) throws(JSONError) -> Int {
        guard depth <= maximumDepth else { throw JSONError(.tooDeep, at: position) }
        let index = nodes.count
        appendNode(from: position)
        position += 1
        return index
    }

    /// Consumes the closing bracket.
    private mutating func closeContainer(_ index: Int) {
        position += 1
        nodes[index].end = Int32(truncatingIfNeeded: position)
        nodes[index].next = Int32(truncatingIfNeeded: nodes.count)
    }
}

// MARK: Strings, numbers, literals

extension JSONParser {
    private mutating func parseString() throws(JSONError) {
        let start = position
        position += 1
        while true {
            position = JSONText.endOfPlainText(in: bytes, from: position)
            guard let byte = peek() else { throw JSONError(.unexpectedEnd, at: position) }
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                appendNode(from: start)
                return
            case UInt8(ascii: "\\"):
                position = try JSONText.escape(in: bytes, at: position).end
                hasEscapes = true
            case 0x80...:
                position = try JSONText.endOfSequence(in: bytes, at: position)
            default:
                throw JSONError(.controlCharacter, at: position)
            }
        }
    }

    private mutating func parseNumber() throws(JSONError) {
        let start = position
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") {
            position += 1
            if let byte = peek(), byte.isDigit { throw JSONError(.invalidNumber, at: position) }
        } else {
            try parseDigits()
        }
        if peek() == UInt8(ascii: ".") {
            position += 1
            try parseDigits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            position += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
            try parseDigits()
        }
        appendNode(from: start)
    }

    private mutating func parseDigits() throws(JSONError) {
        guard let first = peek() else { throw JSONError(.unexpectedEnd, at: position) }
        guard first.isDigit else { throw JSONError(.invalidNumber, at: position) }
        while let byte = peek(), byte.isDigit { position += 1 }
    }

    private mutating func parseLiteral(_ literal: String) throws(JSONError) {
        let start = position
        for expected in literal.utf8 {
            guard let byte = peek() else { throw JSONError(.unexpectedEnd, at: position) }
            guard byte == expected else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
        appendNode(from: start)
    }
}

// MARK: Reading bytes, recording nodes

extension JSONParser {
    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, JSONText.isWhiteSpace(bytes[position]) { position += 1 }
    }

    /// Moves `position` to the next byte that is not white space, and returns the byte.
    private mutating func nextToken() throws(JSONError) -> UInt8 {
        while let byte = peek() {
            if !JSONText.isWhiteSpace(byte) { return byte }
            position += 1
        }
        throw JSONError(.unexpectedEnd, at: position)
    }

    /// Records a value that ends at `position`.
    private mutating func appendNode(from start: Int) {
        nodes.append(
            JSONNode(
                start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: position),
                next: Int32(truncatingIfNeeded: nodes.count + 1)))
    }
}
