extension Unicode.Scalar {
    /// Whether this is an ASCII or Latin-1 control character.
    package var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }

    /// Whether no name of a device, an account or a key may have this character: two names would look alike in a list.
    /// The list is the format's, whatever Unicode adds. (`Docs/Format.md`, Notation)
    package var isInvisible: Bool {
        if isControl { return true }
        return switch value {
        case 0xad, 0x600...0x605, 0x61c, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x180e, 0x200b...0x200f, 0x2028...0x202e,
            0x2060...0x2064, 0x2066...0x206f, 0xfeff, 0xfff9...0xfffb, 0x110bd, 0x110cd, 0x13430...0x1343f,
            0x1bca0...0x1bca3, 0x1d173...0x1d17a, 0xe0001, 0xe0020...0xe007f:
            true
        default: false
        }
    }

    /// Whether a title or a person's name loses this character when it is shown: it changes the direction of the text
    /// after it, or has no width. The joiners U+200C and U+200D stay, which Persian and emoji need. (N-4)
    package var isDroppedFromTitles: Bool {
        switch value {
        case 0x061c, 0x200b, 0x200e, 0x200f, 0x202a...0x202e, 0x2060, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }
}

extension String {
    /// The text without the characters that a title or a person's name loses. (N-4)
    package var withoutInvisible: String {
        guard unicodeScalars.contains(where: \.isDroppedFromTitles) else { return self }
        var kept = UnicodeScalarView()
        kept.append(contentsOf: unicodeScalars.lazy.filter { !$0.isDroppedFromTitles })
        return String(kept)
    }
}
