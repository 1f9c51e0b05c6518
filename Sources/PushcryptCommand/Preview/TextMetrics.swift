/// How much room characters take where the font is not known.
enum TextMetrics {
    /// The columns that most terminals give a character: two for East Asian wide characters and emoji.
    static func columns(_ character: Character) -> Double {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    /// A part of the font's size: about what sans-serif fonts have for titles, which are bold.
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

    /// The same for texts, which are not bold.
    static func regular(_ character: Character) -> Double { 0.96 * bold(character) }

    /// What a browser measured for U+0020 to U+007E in Noto Sans, semi-bold, in hundredths: a font of middle width.
    private static let asciiWidths: [UInt8] = [
        26, 29, 47, 65, 57, 90, 75, 27, 34, 34, 54, 57, 28, 32, 28, 41, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
        28, 28, 57, 57, 57, 48, 90, 69, 67, 64, 74, 56, 55, 72, 76, 39, 33, 66, 56, 94, 81, 80, 63, 80, 66, 55,
        58, 76, 65, 97, 67, 62, 58, 33, 41, 33, 57, 41, 36, 60, 63, 51, 63, 59, 39, 63, 66, 30, 30, 62, 30, 98,
        66, 62, 63, 63, 45, 50, 43, 66, 57, 86, 58, 57, 49, 39, 55, 39, 57,
    ]

    /// Whether a line may end before it although no space is there: Chinese, Japanese and emoji, but for what ends a sentence.
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
    /// Whether it takes no room: joiners and what orders text of both directions.
    fileprivate var isFormat: Bool { properties.generalCategory == .format }
}
