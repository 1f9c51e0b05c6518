internal import PushcryptCommandKit

/// A text of a payload as it is drawn: complete, with its direction, and without control characters.
///
/// Line breaks of every kind become `\n`, other controls are written as `\u001b`. Bidirectional controls stay, because real
/// texts need them; `TextLayout` closes them in each line.
struct PreviewText: Equatable, Sendable {
    /// The direction of a text, from its first letter (UAX #9, rules P2 and P3).
    enum Direction: String, Sendable {
        case leftToRight = "ltr"
        case rightToLeft = "rtl"
    }

    let text: String
    let direction: Direction

    init(_ text: String) {
        var lines = ""
        for character in text { lines.append(character.isNewline ? "\n" : character == "\t" ? " " : character) }
        self.text = visible(lines) { $0 != "\n" && XML.isForbidden($0) }
        direction = Self.direction(of: self.text)
    }

    var isEmpty: Bool { text.isEmpty }

    private static func direction(of text: String) -> Direction {
        var depth = 0
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x2066...0x2068: depth += 1
            case 0x2069: depth = max(0, depth - 1)
            case _ where depth > 0: continue
            case 0x200E: return .leftToRight
            case 0x200F, 0x061C: return .rightToLeft
            case _ where scalar.properties.isAlphabetic:
                return isRightToLeft(scalar) ? .rightToLeft : .leftToRight
            default: continue
            }
        }
        return .leftToRight
    }

    /// Whether it is in a block of Hebrew, Arabic or another script that is written from the right.
    static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}

/// Closes the bidirectional controls of each line, and opens them again in the next: each line is drawn separately, and does
/// not reorder the text beside it.
struct BidiLine {
    private var open: [Unicode.Scalar] = []

    /// Returns the next line of a paragraph, closed.
    mutating func closed(_ line: String) -> String {
        var scalars = String.UnicodeScalarView(open)
        for scalar in line.unicodeScalars {
            switch scalar.value {
            case 0x202A, 0x202B, 0x202D, 0x202E, 0x2066...0x2068: open.append(scalar)
            case 0x202C: if let last = open.last, !Self.isIsolate(last) { open.removeLast() }
            case 0x2069: if let start = open.lastIndex(where: Self.isIsolate) { open.removeSubrange(start...) }
            default: break
            }
            scalars.append(scalar)
        }
        for scalar in open.reversed() { scalars.append(Self.isIsolate(scalar) ? "\u{2069}" : "\u{202c}") }
        return String(scalars)
    }

    private static func isIsolate(_ scalar: Unicode.Scalar) -> Bool { (0x2066...0x2068).contains(scalar.value) }
}

// MARK: Lines

/// Breaks a text into lines of a width, between words if possible and never inside a character, and cuts it with an ellipsis
/// if there are too many.
///
/// Widths are estimates, because the reader's fonts are unknown. (`TextMetrics`)
struct TextLayout {
    private static let ellipsis = "…"

    /// The width of a line, in the unit of `advance`.
    let width: Double
    /// The most lines, at least one.
    let maximumLines: Int
    /// Returns the width of a character.
    let advance: (Character) -> Double

    func lines(of text: String) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var bidi = BidiLine()
            var rest = paragraph
            repeat {
                if lines.count == maximumLines { return cut(lines) }
                let line = firstLine(of: rest)
                rest = rest[line.endIndex...].drop { $0 == " " }
                lines.append(bidi.closed(String(line)))
            } while !rest.isEmpty
        }
        return lines
    }

    /// Returns as much of a text as fits, up to the last place where a line may end.
    private func firstLine(of text: Substring) -> Substring {
        var used = 0.0
        var lastBreak: String.Index?
        for index in text.indices {
            let character = text[index]
            if character == " " || TextMetrics.beginsLines(character), index > text.startIndex { lastBreak = index }
            used += advance(character)
            // At least one character, however wide; a space may exceed the width, because it is invisible.
            if used > width, character != " ", index > text.startIndex {
                return text[..<(lastBreak ?? index)]
            }
        }
        return text
    }

    /// Puts an ellipsis at the end of the last line.
    private func cut(_ lines: [String]) -> [String] {
        var last = lines[lines.count - 1]
        let room = width - advance(Character(Self.ellipsis))
        while last.reduce(0, { $0 + advance($1) }) > room || last.last == " " { last.removeLast() }
        var bidi = BidiLine()
        return lines.dropLast() + [bidi.closed(last + Self.ellipsis)]
    }
}

// MARK: Widths

/// Estimated widths of characters.
enum TextMetrics {
    /// The columns of a character on most terminals: two for East Asian wide characters and emoji.
    static func columns(_ character: Character) -> Double {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    /// The width in a bold sans-serif font, as a part of the font's size.
    static func bold(_ character: Character) -> Double {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if isWide(scalar) { return isEmoji(character) ? 1.3 : 1.02 }
        if let ascii = character.asciiValue, ascii >= 0x20 {
            return Double(asciiWidths[Int(min(ascii, 0x7E) - 0x20)]) / 100
        }
        let letters = character.unicodeScalars.count {
            $0.properties.canonicalCombiningClass == .notReordered && !$0.isFormat
        }
        if PreviewText.isRightToLeft(scalar) { return 0.56 * Double(letters) }
        return Double(letters) * (scalar.properties.isUppercase ? 0.8 : 0.66)
    }

    /// The width in a regular sans-serif font, as a part of the font's size.
    static func regular(_ character: Character) -> Double { 0.96 * bold(character) }

    /// The widths of U+0020 to U+007E in Noto Sans semi-bold, a font of medium width, as a browser measured them, in
    /// hundredths.
    private static let asciiWidths: [UInt8] = [
        26, 29, 47, 65, 57, 90, 75, 27, 34, 34, 54, 57, 28, 32, 28, 41, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
        28, 28, 57, 57, 57, 48, 90, 69, 67, 64, 74, 56, 55, 72, 76, 39, 33, 66, 56, 94, 81, 80, 63, 80, 66, 55,
        58, 76, 65, 97, 67, 62, 58, 33, 41, 33, 57, 41, 36, 60, 63, 51, 63, 59, 39, 63, 66, 30, 30, 62, 30, 98,
        66, 62, 63, 63, 45, 50, 43, 66, 57, 86, 58, 57, 49, 39, 55, 39, 57,
    ]

    /// Whether a line may end before it without a space: Chinese, Japanese and emoji, except closing punctuation.
    static func beginsLines(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, isWide(scalar) else { return false }
        return switch scalar.value {
        case 0x1100...0x11FF, 0x3130...0x318F, 0xAC00...0xD7FF: false
        case 0x3001, 0x3002, 0x300D, 0x300F, 0xFF01, 0xFF09, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F: false
        default: true
        }
    }

    private static func isEmoji(_ character: Character) -> Bool {
        character.unicodeScalars.contains { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}

extension Unicode.Scalar {
    /// Whether it has no width: joiners and bidirectional controls.
    fileprivate var isFormat: Bool { properties.generalCategory == .format }
}
