/// Text in roff, the language of manual pages, in ASCII.
package enum Roff {
    /// Formats a paragraph: each sentence starts a line, as mdoc(7) requires.
    package static func paragraph(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            let escaped = escaped(String(word))
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = escaped
            } else if last.utf8.count + 1 + escaped.utf8.count <= width {
                lines[lines.count - 1] += " " + escaped
            } else {
                lines.append(escaped)
            }
            if endsSentence(word) { lines.append("") }
        }
        if lines.last == "" { lines.removeLast() }
        return lines.map { line($0) + "\n" }.joined()
    }

    /// Formats a literal line.
    package static func literal(_ text: String) -> String { line(escaped(text, isLiteral: true)) + "\n" }

    /// Formats an argument of a macro: one word that is not a macro or delimiter itself.
    package static func argument(_ text: String) -> String {
        let text = escaped(text)
        let isMacro = (2...3).contains(text.utf8.count) && text.first?.isUppercase == true
        return (isMacro || isDelimiter(text) ? "\\&" : "") + text
    }

    private static let width = 78

    private static func escaped(_ text: String, isLiteral: Bool = false) -> String {
        var result = ""
        let scalars = Array(text.unicodeScalars)
        for (place, scalar) in scalars.enumerated() {
            switch scalar {
            case "\\": result += "\\e"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "\"": result += "\\(dq"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            // A hyphen between letters of text; elsewhere a minus, so that a search finds what is typed.
            case "-":
                let isHyphen =
                    !isLiteral && place > 0 && scalars[place - 1].properties.isAlphabetic && scalars[0] != "-"
                result += isHyphen ? "-" : "\\-"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
        return result
    }

    /// Escapes a dot at the start of a line, where it would begin a request. An apostrophe is always escaped.
    private static func line(_ text: String) -> String { text.hasPrefix(".") ? "\\&" + text : text }

    private static func endsSentence(_ word: Substring) -> Bool {
        let end = word.last { !"'\")".contains($0) }
        return end == "." || end == "?" || end == "!"
    }

    private static func isDelimiter(_ text: String) -> Bool {
        [".", ",", ":", ";", "(", ")", "[", "]", "?", "!", "|"].contains(text)
    }
}
