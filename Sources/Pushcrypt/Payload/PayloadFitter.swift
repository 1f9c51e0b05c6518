/// A text of an alert that a sealer may shorten.
public enum AlertText: String, CaseIterable, Sendable {
    /// The body, or an alert that is a string.
    case body
    /// The second line.
    case subtitle
    /// The first line.
    case title
}

/// Shortens texts of an alert until a payload has no more than so many bytes.
///
/// Texts are cut between grapheme clusters (UAX #29), never inside of one, and end in `…`. Everything else, the beginning of
/// a shortened text included, keeps its bytes. Time is linear in the payload.
struct PayloadFitter {
    /// The payload, minified, and at most as long as was asked for.
    let payload: ContiguousArray<UInt8>
    /// How many characters each text has lost.
    let removed: [AlertText: Int]

    static let ellipsis = ContiguousArray("…".utf8)

    /// Shortens a minified payload, the texts in the order given, each as far as it must be: to its first character if need
    /// be, and to the ellipsis alone only where that is still not enough. Nil when it does not fit even then.
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
        removed = Dictionary(uniqueKeysWithValues: cuts.filter { $0.saved > 0 }.map { ($0.text, $0.removed) })
    }
}

/// Where one text is cut.
private struct Cut {
    let text: AlertText
    /// Where the text's characters stand, without the quotes.
    let characters: Range<Int>
    /// Where what is kept ends.
    private(set) var end: Int
    /// How many grapheme clusters are not kept.
    private(set) var removed: Int

    private let count: Int

    /// The bytes that are gone, and not needed for the ellipsis.
    var saved: Int { removed == 0 ? 0 : characters.upperBound - end - PayloadFitter.ellipsis.count }

    /// Finds the place for a cut that saves so many bytes, or as many as can be while a character is kept; nil where there
    /// is no such text.
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
        // What is kept ends in something to see.
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

    /// Keeps nothing but the ellipsis, where that is shorter; returns the bytes that are saved by it.
    mutating func cutToNothing() -> Int {
        let before = saved
        guard characters.count > PayloadFitter.ellipsis.count else { return 0 }
        (end, removed) = (characters.lowerBound, count)
        return saved - before
    }
}

extension JSONText {
    /// Where so many characters of a checked string end, those that are escapes included.
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
