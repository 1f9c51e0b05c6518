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
