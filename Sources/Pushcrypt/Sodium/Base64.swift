#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// Canonical base64url without padding (RFC 4648, section 5): each byte string has exactly one text. For what anyone may
/// read; secrets have `SecretBase64`.
package enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    /// For each ASCII character its value plus 64; `!`, which is less, for one that is not of the alphabet.
    private static let values: StaticString = """
        !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!~!!tuvwxyz{|}!!!!!!\
        !@ABCDEFGHIJKLMNOPQRSTUVWXY!!!!\u{7f}!Z[\\]^_`abcdefghijklmnopqrs!!!!!
        """

    /// The number of characters for `count` bytes.
    static func encodedLength(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Appends the text of the bytes.
    ///
    /// libsodium's functions take constant time, which costs a fortieth of a seal; this text goes to the relay.
    static func append(_ bytes: Span<UInt8>, to text: inout ContiguousArray<UInt8>) {
        guard !bytes.isEmpty else { return }
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: encodedLength(bytes.count)))
        unsafe text.withUnsafeMutableBufferPointer { text in
            var output = unsafe MutableBytes(text)
            write(bytes, to: &output, at: start)
        }
    }

    private static func write(_ bytes: Span<UInt8>, to output: inout MutableBytes, at start: Int) {
        let characters = unsafe UnsafeBufferPointer(start: alphabet.utf8Start, count: alphabet.utf8CodeUnitCount).span
        precondition(characters.count == 64, "the whole alphabet")
        var (index, end) = (0, start)
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            output[end] = characters[Int(group >> 18)]
            output[end + 1] = characters[Int(group >> 12 & 63)]
            output[end + 2] = characters[Int(group >> 6 & 63)]
            output[end + 3] = characters[Int(group & 63)]
            index += 3
            end += 4
        }
        guard index < bytes.count else { return }
        let isPair = index + 1 < bytes.count
        let group = UInt32(bytes[index]) << 16 | (isPair ? UInt32(bytes[index + 1]) << 8 : 0)
        output[end] = characters[Int(group >> 18)]
        output[end + 1] = characters[Int(group >> 12 & 63)]
        if isPair { output[end + 2] = characters[Int(group >> 6 & 63)] }
    }

    package static func string(_ bytes: Span<UInt8>) -> String {
        var text = ContiguousArray<UInt8>()
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text that the relay may know; returns nil for padding, white space, other characters, nonzero unused bits
    /// or a wrong length.
    package static func decode(_ text: Span<UInt8>) -> ContiguousArray<UInt8>? {
        guard text.count % 4 != 1 else { return nil }
        guard !text.isEmpty else { return [] }
        var isValid = false
        let bytes = unsafe ContiguousArray(count: text.count * 3 / 4) { output in
            var output = unsafe MutableBytes(
                UnsafeMutableBufferPointer(start: output, count: text.count * 3 / 4))
            isValid = read(text, into: &output)
        }
        return isValid ? bytes : nil
    }

    /// Returns false for a text that no bytes have; `output` is then undefined.
    private static func read(_ text: Span<UInt8>, into output: inout MutableBytes) -> Bool {
        let values = unsafe UnsafeBufferPointer(start: values.utf8Start, count: values.utf8CodeUnitCount).span
        precondition(values.count == 128, "a table of all ASCII characters")
        // Bit 6 of `known` and bit 7 of `characters` tell at the end whether each character is of the alphabet.
        var (known, characters): (UInt8, UInt8) = (64, 0)
        func value(_ index: Int) -> UInt32 {
            let character = text[index]
            let value = values[Int(character & 127)]
            characters |= character
            known &= value
            return UInt32(value & 63)
        }
        var (index, end) = (0, 0)
        while index + 4 <= text.count {
            let group = value(index) << 18 | value(index + 1) << 12 | value(index + 2) << 6 | value(index + 3)
            output[end] = UInt8(truncatingIfNeeded: group >> 16)
            output[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
            output[end + 2] = UInt8(truncatingIfNeeded: group)
            index += 4
            end += 3
        }
        var unused: UInt32 = 0
        if index < text.count {
            let isTriple = index + 2 < text.count
            let group = value(index) << 18 | value(index + 1) << 12 | (isTriple ? value(index + 2) << 6 : 0)
            output[end] = UInt8(truncatingIfNeeded: group >> 16)
            if isTriple { output[end + 1] = UInt8(truncatingIfNeeded: group >> 8) }
            unused = group & (isTriple ? 0xff : 0xffff)
        }
        // Unused bits are zero, or two texts would stand for the same bytes.
        return known == 64 && characters < 128 && unused == 0
    }
}

/// Base64 of secrets, read and written in wiped memory, in time that depends only on the length.
enum SecretBase64: Int32, CaseIterable {
    // sodium_base64_VARIANT_…, macros that Swift does not import.
    case padded = 1
    case unpadded = 3
    case paddedURL = 5
    case unpaddedURL = 7

    /// Returns the text of at least one byte.
    func encode(_ bytes: Span<UInt8>) -> Ephemeral {
        // One more for the terminating zero that libsodium writes.
        let length = sodium_base64_encoded_len(bytes.count, rawValue)
        var text = Ephemeral(count: length)
        text.withMutableBytes { output in
            unsafe output.withMutableBase { target, _ in
                unsafe bytes.withBase { source, count in
                    unsafe target.withMemoryRebound(to: CChar.self, capacity: length) {
                        _ = unsafe sodium_bin2base64($0, length, source, count, rawValue)
                    }
                }
            }
        }
        return text.withSpan { Ephemeral(copying: $0.extracting(0..<length - 1)) }
    }

    /// Decodes a text; returns nil if it is empty, or for wrong padding, white space, other characters or nonzero
    /// unused bits.
    func decode(_ text: Span<UInt8>) -> Ephemeral? {
        // libsodium 1.0.18 reads every byte above 127 as if it stood for 63.
        var union: UInt8 = 0
        for index in text.indices { union |= text[index] }
        guard union <= 127, !text.isEmpty else { return nil }
        var bytes = Ephemeral(count: text.count)
        var decoded = 0
        let code = bytes.withMutableBytes { output in
            unsafe output.withMutableBase { target, capacity in
                unsafe text.withBase { source, count in
                    unsafe source.withMemoryRebound(to: CChar.self, capacity: count) {
                        unsafe sodium_base642bin(target, capacity, $0, count, nil, &decoded, nil, rawValue)
                    }
                }
            }
        }
        guard code == 0 else { return nil }
        return bytes.withSpan { Ephemeral(copying: $0.extracting(0..<decoded)) }
    }
}
