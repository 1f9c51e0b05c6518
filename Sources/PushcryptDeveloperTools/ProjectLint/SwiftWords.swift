internal import Pushcrypt

/// The words and signs of a Swift source, without comments; a string is a quote with its source text.
struct SwiftWords {
    private(set) var words: [String] = []

    private let source: ContiguousArray<UInt8>
    private var position = 0

    init(_ source: ContiguousArray<UInt8>) {
        self.source = source
        while position < source.count {
            if skip("//") {
                while position < source.count, source[position] != UInt8(ascii: "\n") { position += 1 }
            } else if skip("/*") {
                skipComment()
            } else if skip("\"\"\"") {
                words.append("\"" + string(until: "\"\"\""))
            } else if skip("\"") {
                words.append("\"" + string(until: "\""))
            } else if Self.isPartOfWord(source[position]) {
                let start = position
                while position < source.count, Self.isPartOfWord(source[position]) { position += 1 }
                words.append(String(decoding: source[start..<position], as: UTF8.self))
            } else {
                if source[position] > 0x20 { words.append(String(decoding: [source[position]], as: UTF8.self)) }
                position += 1
            }
        }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard source[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    /// Skips a comment, which may contain others.
    private mutating func skipComment() {
        var depth = 1
        while depth > 0, position < source.count {
            if skip("/*") {
                depth += 1
            } else if skip("*/") {
                depth -= 1
            } else {
                position += 1
            }
        }
    }

    /// Reads a string, which ends at the end of the line, so that an interpolated string affects only its line.
    private mutating func string(until quotes: String) -> String {
        let start = position
        while position < source.count {
            let end = position
            if skip(quotes) || quotes.utf8.count == 1 && source[position] == UInt8(ascii: "\n") {
                return String(decoding: source[start..<end], as: UTF8.self)
            }
            position = min(position + (source[position] == UInt8(ascii: "\\") ? 2 : 1), source.count)
        }
        return String(decoding: source[start...], as: UTF8.self)
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte >= 0x80
    }
}
