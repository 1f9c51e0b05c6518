internal import Pushcrypt

/// The texts of secret keys inside other texts, wherever somebody has put one: messages repeat what makes no sense.
enum SecretText {
    private static let prefixes = ["pcr-secret-1", "pcs-secret-1"].map { ContiguousArray($0.utf8) }
    /// So many characters of a key's after the prefix, and it is no name of a file any more.
    private static let length = 8

    /// Whether a secret key begins anywhere in a text.
    static func isIn(_ text: String) -> Bool { !keys(in: ContiguousArray(text.utf8)).isEmpty }

    /// A text with an ellipsis for each key that begins in it, behind the prefix that says what was there.
    static func removed(from text: String) -> String {
        let bytes = ContiguousArray(text.utf8)
        var rest = bytes[...]
        var safe = ""
        for key in keys(in: bytes) {
            safe += String(decoding: rest[..<key.lowerBound], as: UTF8.self) + "…"
            rest = bytes[key.upperBound...]
        }
        return safe + String(decoding: rest, as: UTF8.self)
    }

    /// Where the characters of keys stand, without their prefixes.
    private static func keys(in text: ContiguousArray<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = text.startIndex
        while let next = text[start...].firstIndex(where: { $0 | 0x20 == UInt8(ascii: "p") }) {
            start = next + 1
            guard let prefix = prefixes.first(where: { text[next...].lazy.map(lowercase).starts(with: $0) }) else {
                continue
            }
            let key = text[(next + prefix.count)...].prefix(while: \.isLetterOrDigit)
            guard key.count >= length else { continue }
            found.append(key.indices)
            start = key.endIndex
        }
        return found
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
