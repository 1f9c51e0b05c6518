/// A text of an alert that a sealer may shorten.
public enum AlertText: String, CaseIterable, Sendable {
    /// The body, or the alert itself if it is a string.
    case body
    /// The second line.
    case subtitle
    /// The first line.
    case title
}

/// Shortens texts of an alert until a payload is not longer than a limit.
///
/// Texts are cut between grapheme clusters (UAX #29), and end in `…`. Everything else keeps its bytes, including the
/// start of a shortened text. Takes linear time.
struct PayloadFitter {
    /// The minified payload, within the limit.
    let payload: ContiguousArray<UInt8>
    /// The number of characters removed from each text that was shortened.
    let removed: [AlertText: Int]

    static let ellipsis = ContiguousArray("…".utf8)

    /// Shortens a minified payload: the texts in the given order, each as far as necessary, down to its first
    /// character. If that is not enough, texts are cut down to the ellipsis. Returns nil if the payload is still too
    /// long.
    init?(_ minified: ContiguousArray<UInt8>, maximumLength: Int, shortening texts: [AlertText]) {
        guard let document = try? JSONDocument(parsing: minified, maximumBytes: .max),
            let alert = document.root[PayloadKeys.aps]?["alert"]
        else { return nil }
        var cuts: [Cut] = []
        var excess = minified.count - maximumLength
        for text in texts where !cuts.contains(where: { $0.text == text }) {
            guard let cut = Cut(text, of: alert, saving: excess) else { continue }
            excess -= cut.saved
            cuts.append(cut)
        }
        for index in cuts.indices where excess > 0 { excess -= cuts[index].cutToNothing() }
        guard excess <= 0 else { return nil }

        var payload = ContiguousArray<UInt8>()
        payload.reserveCapacity(maximumLength)
        var position = 0
        for cut in cuts.sorted(by: { $0.characters.lowerBound < $1.characters.lowerBound }) where cut.saved > 0 {
            payload.append(contentsOf: minified[position..<cut.end])
            payload.append(contentsOf: Self.ellipsis)
            position = cut.characters.upperBound
        }
        payload.append(contentsOf: minified[position...])
        self.payload = payload
        var removed: [AlertText: Int] = [:]
        for cut in cuts where cut.saved > 0 { removed[cut.text] = cut.removed }
        self.removed = removed
    }
}

/// The position at which one text is cut.
private struct Cut {
    let text: AlertText
    /// The offsets of the text without its quotes.
    let characters: Range<Int>
    /// The end of the part that is kept.
    private(set) var end: Int
    /// The number of grapheme clusters that are removed.
    private(set) var removed: Int

    private let count: Int

    /// The number of bytes saved, after adding the ellipsis.
    var saved: Int { removed == 0 ? 0 : characters.upperBound - end - PayloadFitter.ellipsis.count }

    /// Finds the cut that saves `excess` bytes, or as many as possible while keeping a character; returns nil if the
    /// alert does not have the text.
    init?(_ text: AlertText, of alert: JSONValue, saving excess: Int) {
        let value = alert.kind == .object ? alert[text.rawValue] : text == .body ? alert : nil
        guard let value, let string = value.string else { return nil }
        self.text = text
        characters = value.range.lowerBound + 1..<value.range.upperBound - 1
        let limit = characters.upperBound - excess - PayloadFitter.ellipsis.count

        let bytes = value.document.bytes
        let isEscaped = bytes[characters].contains(UInt8(ascii: "\\"))
        var position = characters.lowerBound
        var count = 0
        // The part that is kept ends with a visible character.
        var first: (end: Int, count: Int)?
        var last: (end: Int, count: Int)?
        for character in string {
            position =
                isEscaped
                ? JSONText.end(of: character.unicodeScalars.count, in: bytes, from: position)
                : position + character.utf8.count
            count += 1
            guard !character.isWhitespace else { continue }
            if first == nil { first = (position, count) }
            if position <= limit { last = (position, count) }
        }
        self.count = count
        end = characters.upperBound
        removed = 0
        guard excess > 0 else { return }
        if let kept = last ?? first, kept.end + PayloadFitter.ellipsis.count < characters.upperBound {
            (end, removed) = (kept.end, count - kept.count)
        }
    }

    /// Cuts down to the ellipsis, if that is shorter; returns the number of bytes saved by this.
    mutating func cutToNothing() -> Int {
        let before = saved
        guard characters.count > PayloadFitter.ellipsis.count else { return 0 }
        (end, removed) = (characters.lowerBound, count)
        return saved - before
    }
}

extension JSONText {
    /// Returns the end of the next characters of a checked string, including escapes.
    fileprivate static func end(of scalars: Int, in bytes: ContiguousArray<UInt8>, from start: Int) -> Int {
        var position = start
        for _ in 0..<scalars where position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"): position = (try? escape(in: bytes, at: position).end) ?? bytes.count
            case 0xF0...: position += 4
            case 0xE0...: position += 3
            case 0xC0...: position += 2
            default: position += 1
            }
        }
        return position
    }
}
