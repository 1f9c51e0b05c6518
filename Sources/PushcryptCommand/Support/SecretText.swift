internal import Pushcrypt
internal import PushcryptCommandKit

/// The texts of secret keys, this project's and other programs', inside other texts: messages quote input that they refuse,
/// and it may be a key in the wrong place.
package enum SecretText {
    private static let prefixes = ["pcr-secret-1", "pcrx-secret-1", "pcs-secret-1", "pck-secret-1"].map {
        ContiguousArray($0.utf8)
    }
    private static let pemMark = ContiguousArray("PRIVATE KEY-----".utf8)
    private static let pemEnd = ContiguousArray("-----".utf8)
    private static let quote = UInt8(ascii: "\"")
    /// The secret half of a JWK, up to the quote after its name.
    private static let jwkMark = ContiguousArray("\"d".utf8)
    /// 32 and 64 bytes: base64 with and without padding, hexadecimal.
    private static let bareLengths: Set<Int> = [43, 44, 64, 86, 88, 128]
    /// The minimum number of a key's characters after the prefix; shorter texts may be file names.
    private static let length = 8

    /// Whether a secret key begins anywhere in a text.
    static func isIn(_ text: String) -> Bool { !keys(in: ContiguousArray(text.utf8)).isEmpty }

    /// Returns the text with each key replaced by an ellipsis after its prefix.
    package static func removed(from text: String) -> String {
        let bytes = ContiguousArray(text.utf8)
        var rest = bytes[...]
        var safe = ""
        for key in keys(in: bytes) {
            safe += String(decoding: rest[..<key.lowerBound], as: UTF8.self) + "…"
            rest = bytes[key.upperBound...]
        }
        return safe + String(decoding: rest, as: UTF8.self)
    }

    /// Whether a text may be the bare bytes of a key, in base64 or hexadecimal; a file may have such a name too.
    static func isBareKey(_ text: String) -> Bool {
        bareLengths.contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfBase64)
    }

    /// Returns the ranges of the keys' characters, without the prefixes.
    private static func keys(in text: ContiguousArray<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = text.startIndex
        while let next = text[start...].firstIndex(where: { $0 | 0x20 == UInt8(ascii: "p") || $0 == quote }) {
            start = next + 1
            guard let key = key(at: next, in: text) else { continue }
            found.append(key)
            start = key.upperBound
        }
        return found
    }

    /// Returns the range of the key of this project, PEM or a JWK whose prefix is at this index.
    private static func key(at place: Int, in text: ContiguousArray<UInt8>) -> Range<Int>? {
        let rest = text[place...]
        if let prefix = prefixes.first(where: { rest.lazy.map(lowercase).starts(with: $0) }) {
            let key = rest.dropFirst(prefix.count).prefix(while: \.isLetterOrDigit)
            return key.count >= length ? key.indices : nil
        }
        if rest.starts(with: pemMark) {
            // Up to the last line, or the end of the text; line breaks may have any form.
            var key = rest.dropFirst(pemMark.count)
            key = key.prefix(upTo: key.indices.first { key[$0...].starts(with: pemEnd) } ?? key.endIndex)
            return key.split(whereSeparator: { !$0.isOfBase64 }).contains { $0.count >= length } ? key.indices : nil
        }
        if rest.starts(with: jwkMark) {
            // Quotes, perhaps escaped, a colon and white space separate name and value.
            let key = rest.dropFirst(jwkMark.count).drop { !$0.isOfBase64 && $0 < 0x60 }.prefix(while: \.isOfBase64)
            return key.count >= length && key.startIndex >= place + jwkMark.count + 2 ? key.indices : nil
        }
        return nil
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension UInt8 {
    /// Whether it is a character of base64 in either alphabet, or padding.
    fileprivate var isOfBase64: Bool {
        switch self {
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): true
        default: isLetterOrDigit
        }
    }
}

extension Failure {
    static func secretInArguments(hint: String...) -> Failure {
        Failure(
            .usage, "a secret key is never an argument: other users and the shell's history see it",
            hints: ["keep it in a file or pipe it in; this key should be replaced"] + hint)
    }
}

extension SecretText {
    /// Refuses arguments with a secret key in them: they are visible to every user of the machine, and stay in the shell's
    /// history.
    package static func refuse(in arguments: [String]) throws {
        if arguments.contains(where: isIn) { throw Failure.secretInArguments() }
    }
}
