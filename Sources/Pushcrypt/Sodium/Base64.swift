#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// Canonical base64url without padding (RFC 4648, section 5): each byte string has exactly one text. For what anyone may
/// read; secrets have `SecretBase64`.
enum Base64URL {
    // sodium_base64_VARIANT_URLSAFE_NO_PADDING, a macro that Swift does not import.
    private static let variant: Int32 = 7
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The number of characters for `count` bytes.
    static func encodedLength(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Appends the text of the bytes.
    ///
    /// libsodium's function takes constant time, which costs a fortieth of a seal; this text goes to the relay.
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

    static func string(_ bytes: Span<UInt8>) -> String {
        var text = ContiguousArray<UInt8>()
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; returns nil for padding, white space, other characters, nonzero unused bits or a wrong length.
    static func decode(_ text: Span<UInt8>) -> ContiguousArray<UInt8>? {
        guard text.count % 4 != 1 else { return nil }
        guard !text.isEmpty else { return [] }
        // libsodium 1.0.18 reads every byte above 127 as if it stood for 63.
        var union: UInt8 = 0
        for index in text.indices { union |= text[index] }
        guard union <= 127 else { return nil }
        let length = text.count * 3 / 4
        var code: Int32 = -1
        var decoded = 0
        let bytes = unsafe ContiguousArray(count: length) { output in
            code = unsafe text.withBase { source, count in
                unsafe source.withMemoryRebound(to: CChar.self, capacity: count) {
                    unsafe sodium_base642bin(output, length, $0, count, nil, &decoded, nil, variant)
                }
            }
        }
        return code == 0 && decoded == length ? bytes : nil
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
