/// Text in lines of a width, cut with an ellipsis where there are too many; lines end between words where they can, and
/// always between characters as people see them.
///
/// Widths are estimates: nobody here has the reader's fonts. (`TextMetrics`)
struct LineLayout {
    private static let ellipsis = "…"

    private let width: Double
    private let maximumLines: Int
    private let advance: (Character) -> Double

    /// - Parameters:
    ///   - width: how wide a line may be, in the unit of `advance`.
    ///   - maximumLines: how many lines there may be, at least one.
    ///   - advance: how wide a character is.
    init(width: Double, maximumLines: Int, advance: @escaping (Character) -> Double) {
        self.width = width
        self.maximumLines = maximumLines
        self.advance = advance
    }

    /// The lines of a text, and whether that is not all of it.
    func lines(of text: String) -> (lines: [String], isCut: Bool) {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var bidi = BidiLine()
            var rest = paragraph
            repeat {
                if lines.count == maximumLines { return (cut(lines), true) }
                let line = firstLine(of: rest)
                rest = rest[line.endIndex...].drop { $0 == " " }
                lines.append(bidi.closed(String(line)))
            } while !rest.isEmpty
        }
        return (lines, false)
    }

    /// As much of a text as fits, up to its last place where a line may end.
    private func firstLine(of text: Substring) -> Substring {
        var used = 0.0
        var lastBreak: String.Index?
        for index in text.indices {
            let character = text[index]
            if character == " " || TextMetrics.beginsLines(character), index > text.startIndex { lastBreak = index }
            used += advance(character)
            // At least one character, however wide; a space may stick out, for nobody sees it.
            if used > width, character != " ", index > text.startIndex {
                return text[..<(lastBreak ?? index)]
            }
        }
        return text
    }

    /// Makes room for the ellipsis in the last line, before what closes it.
    private func cut(_ lines: [String]) -> [String] {
        var last = lines[lines.count - 1]
        let room = width - advance(Character(Self.ellipsis))
        while last.reduce(0, { $0 + advance($1) }) > room || last.last == " " { last.removeLast() }
        var bidi = BidiLine()
        return lines.dropLast() + [bidi.closed(last + Self.ellipsis)]
    }
}
