/// Text from a stranger, made safe for a terminal: control characters stand there as `\u001b` instead of acting.
///
/// Covered are the C0 and C1 controls and DEL, the line and paragraph separators, and the bidirectional embeddings,
/// overrides and isolates, which reorder what stands after them (UAX #9, section 2). The form is JSON's, so that a JSON
/// text without line breaks between its tokens still says the same. Newlines count: text of several lines is split
/// by the caller first.
package func sanitized(forTerminal text: String) -> String { visible(text, where: acts) }

/// The same for those scalars that are told.
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

/// A word of the person's own, as messages show it: between quotes, safe for a terminal, and cut when it is long.
package func quoted(_ text: String) -> String {
    let limit = 256
    let start = text.unicodeScalars.prefix(limit)
    let rest = start.endIndex == text.unicodeScalars.endIndex ? "" : "…"
    return "'" + sanitized(forTerminal: String(start)) + rest + "'"
}

/// How a word stands out on a terminal.
package enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "1;31"
    case green = "1;32"
    case yellow = "1;33"
    case cyan = "1;36"

    /// The text between the sequences that switch the style on and off (ECMA-48, SGR).
    package func applied(to text: String) -> String {
        "\u{1b}[\(rawValue)m\(text)\u{1b}[0m"
    }
}
