#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Escapes the characters of untrusted text that act on a terminal, such as `\u001b`.
///
/// These are the C0 and C1 controls, DEL, the line and paragraph separators, and the bidirectional embeddings, overrides and
/// isolates, which reorder the text after them (UAX #9, section 2). The escapes are JSON's, so JSON without line breaks
/// between its tokens keeps its meaning. Newlines are escaped too: the caller splits text of several lines first.
package func sanitized(forTerminal text: String) -> String { visible(text, where: acts) }

/// Escapes the scalars that `isHidden` selects.
package func visible(_ text: String, where isHidden: (Unicode.Scalar) -> Bool) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
        if isHidden(scalar) {
            let digits = String(scalar.value, radix: 16)
            safe += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
            safe.unicodeScalars.append(scalar)
        }
    }
    return safe
}

private func acts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
}

/// Quotes a word that the user typed, for a message: safe for a terminal, and shortened if it is long.
package func quoted(_ text: String) -> String {
    let limit = 256
    let start = text.unicodeScalars.prefix(limit)
    let rest = start.endIndex == text.unicodeScalars.endIndex ? "" : "…"
    return "'" + sanitized(forTerminal: String(start)) + rest + "'"
}

/// A style of text on a terminal.
package enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "1;31"
    case green = "1;32"
    case yellow = "1;33"
    case cyan = "1;36"

    /// Puts the text between the sequences that turn the style on and off (ECMA-48, SGR).
    package func applied(to text: String) -> String {
        "\u{1b}[\(rawValue)m\(text)\u{1b}[0m"
    }
}

// The layout of text for users, as `--help` and `explain` print it.

/// The width of printed text, in columns.
private let textWidth = 80

/// Breaks text into lines of at most `textWidth` columns, indented after the first, with a newline at the end.
package func wrapped(_ text: String, indent: Int = 0) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
        let last = lines[lines.count - 1]
        if last.isEmpty {
            lines[lines.count - 1] = String(word)
        } else if indent + last.count + 1 + word.count <= textWidth {
            lines[lines.count - 1] += " " + word
        } else {
            lines.append(String(word))
        }
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
}

/// Lists terms in one column and their meanings in another.
package func listed(_ rows: [(term: String, meaning: String)], indent: Int = 2) -> String {
    let column = indent + (rows.map(\.term.count).max() ?? 0) + 2
    return rows.map { row in
        let padding = String(repeating: " ", count: column - indent - row.term.count)
        return String(repeating: " ", count: indent) + row.term + padding + wrapped(row.meaning, indent: column)
    }.joined()
}

/// Returns the name that the user most likely meant; nil if none is close, or two are equally close.
///
/// A close name has at most one typing error for every three letters, and at least one is allowed. A prefix of three letters
/// or more counts as one error.
package func nearestName(to text: String, among names: [String]) -> String? {
    let word = Array(text.utf8.prefix(64))
    var best: String?
    var bestDistance = Int.max
    for name in names {
        let candidate = Array(name.utf8)
        let letters = candidate.count(where: { $0 != UInt8(ascii: "-") })
        var distance = editDistance(word, candidate)
        if word.count >= 3, candidate.starts(with: word) { distance = min(distance, 1) }
        guard distance <= max(1, letters / 3) else { continue }
        if distance < bestDistance {
            best = name
            bestDistance = distance
        } else if distance == bestDistance {
            best = nil
        }
    }
    return best
}

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
package func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for (i, a) in first.enumerated() {
        var row = [i + 1]
        for (j, b) in second.enumerated() {
            var cost = min(previous[j] + (a == b ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a == second[j - 1], first[i - 1] == b { cost = min(cost, beforePrevious[j - 1] + 1) }
            row.append(cost)
        }
        beforePrevious = previous
        previous = row
    }
    return previous[second.count]
}

package let newline = UInt8(ascii: "\n")

extension ContiguousArray where Element == UInt8 {
    /// Returns the offset of the first newline from `start` on.
    package func firstNewline(from start: Int) -> Int? {
        unsafe withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(newline), bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}

/// Text for XML, and for HTML that is also XML.
package enum XML {
    /// Escapes text for character data and attributes.
    ///
    /// Bidirectional controls become references, so that they do not affect a viewer of the file. Scalars that XML forbids
    /// become U+FFFD.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}":
                escaped += "&#\(scalar.value);"
            case _ where scalar != "\n" && isForbidden(scalar): escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether XML forbids or discourages a scalar (XML 1.0, section 2.2).
    package static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}
