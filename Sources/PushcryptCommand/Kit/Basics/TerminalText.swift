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
        if let byte = RawText.byte(of: scalar) {
            safe += "\\x" + String(byte, radix: 16)
        } else if isHidden(scalar) {
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
    case _ where RawText.byte(of: scalar) != nil: true
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
