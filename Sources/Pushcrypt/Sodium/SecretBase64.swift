#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// Base64 of secrets: read and written in a time that depends on the lengths only, in memory that is wiped.
enum SecretBase64: Int32, CaseIterable {
    // sodium_base64_VARIANT_…: macros that Swift does not import.
    case padded = 1
    case unpadded = 3
    case paddedURL = 5
    case unpaddedURL = 7

    /// The text of at least one byte.
    func encode(_ bytes: Span<UInt8>) -> Ephemeral {
        // One more for the terminating zero that libsodium writes.
        let length = sodium_base64_encoded_len(bytes.count, rawValue)
        var text = Ephemeral(count: length)
        text.withMutableSpan { output in
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

    /// Decodes, or gives nil for no text, wrong padding, white space, any other character, unused bits that are not zero.
    func decode(_ text: Span<UInt8>) -> Ephemeral? {
        // libsodium 1.0.18 reads every byte above 127 as if it stood for 63.
        var union: UInt8 = 0
        for index in text.indices { union |= text[index] }
        guard union <= 127, !text.isEmpty else { return nil }
        var bytes = Ephemeral(count: text.count)
        var decoded = 0
        let code = bytes.withMutableSpan { output in
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
