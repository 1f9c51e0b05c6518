internal import PushcryptCommandKit

/// A text of a payload as it is drawn: whole, in its own direction, and with nothing in it that could not be written down.
///
/// Line breaks of every kind are `\n`, other controls stand there as `\u001b`. What orders text of both directions stays,
/// because people's texts need it: whoever draws a line closes it (`BidiLine`).
struct PreviewText: Equatable, Sendable {
    /// Where a text begins, as the first of its letters says (UAX #9, rules P2 and P3).
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

    /// The blocks of Hebrew, Arabic and the other scripts that are written from the right.
    static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}

/// Closes in every line what it opens, and opens it again in the next: a line is drawn by itself, and nothing in it reorders
/// what stands beside it.
struct BidiLine {
    private var open: [Unicode.Scalar] = []

    /// The next line of a paragraph.
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
