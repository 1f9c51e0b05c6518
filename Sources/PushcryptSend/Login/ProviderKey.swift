internal import COpenSSL
internal import PushcryptCommandKit

/// The private key that signs provider tokens, from the file that Apple creates.
@safe
final class ProviderKey {
    private static let header = "-----BEGIN PRIVATE KEY-----"
    private static let footer = "-----END PRIVATE KEY-----"
    /// The bytes of r and s each.
    private static let half = 32

    private let key: OpaquePointer

    /// Reads one unencrypted key on the curve P-256, and nothing beside it. Every source that `readSecret` reads is possible, and as
    /// strict.
    init(_ source: String, _ console: Console) throws(CommandFailure) {
        let key = try unsafe withSecret(from: source, console) { (text) in unsafe Self.key(text) }
        guard let key = unsafe key else {
            throw CommandFailure(
                .usage, "\(quoted(source)) is not an APNs key",
                hints: [
                    "it must be the .p8 file from the developer account, unchanged: one unencrypted key on the curve P-256"
                ])
        }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    private static func key(_ text: UnsafeRawBufferPointer) -> OpaquePointer? {
        // Nothing but the key: OpenSSL would skip other text, and read the first of several.
        guard unsafe text.starts(with: header.utf8),
            unsafe text.lastIndex(of: newline).map({ $0 + 1 }) == text.count - footer.utf8.count,
            unsafe text.suffix(footer.utf8.count).elementsEqual(footer.utf8),
            unsafe text.count(where: { $0 == UInt8(ascii: "-") }) == 20,
            let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count))
        else { return nil }
        defer { unsafe BIO_free(source) }
        guard let info = unsafe PEM_read_bio_PKCS8_PRIV_KEY_INFO(source, nil, nil, nil) else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard let key = unsafe EVP_PKCS82PKEY(info) else {
            ERR_clear_error()
            return nil
        }
        var name = ContiguousArray<CChar>(repeating: 0, count: 32)
        var length = 0
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
            unsafe name.withUnsafeMutableBufferPointer({
                unsafe EVP_PKEY_get_group_name(key, $0.baseAddress, $0.count, &length)
            }) == 1,
            name[..<length].elementsEqual(SN_X9_62_prime256v1.utf8.map { CChar(bitPattern: $0) })
        else {
            ERR_clear_error()
            unsafe EVP_PKEY_free(key)
            return nil
        }
        return unsafe key
    }

    /// Signs with ECDSA and SHA-256; returns r and s as a token has them (RFC 7518, section 3.4).
    func signature(of text: ContiguousArray<UInt8>) throws(CommandFailure) -> ContiguousArray<UInt8> {
        guard let context = unsafe EVP_MD_CTX_new() else { throw Self.failure }
        defer { unsafe EVP_MD_CTX_free(context) }
        var encoded = ContiguousArray<UInt8>(repeating: 0, count: 128)
        var length = encoded.count
        let isSigned =
            unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1
            && text.withUnsafeBufferPointer { text in
                unsafe encoded.withUnsafeMutableBufferPointer { encoded in
                    unsafe EVP_DigestSign(context, encoded.baseAddress, &length, text.baseAddress, text.count)
                }
            } == 1
        guard isSigned else { throw Self.failure }
        var signature = ContiguousArray<UInt8>(repeating: 0, count: 2 * Self.half)
        let isWritten = unsafe encoded.withUnsafeBufferPointer { encoded -> Bool in
            var start = encoded.baseAddress
            guard let parsed = unsafe d2i_ECDSA_SIG(nil, &start, length) else { return false }
            defer { unsafe ECDSA_SIG_free(parsed) }
            return unsafe signature.withUnsafeMutableBufferPointer { room in
                guard let base = room.baseAddress else { return false }
                let half = Int32(Self.half)
                return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parsed), base, half) == half
                    && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), base + Self.half, half) == half
            }
        }
        guard isWritten else { throw Self.failure }
        return signature
    }

    private static var failure: CommandFailure {
        ERR_clear_error()
        return .failed("OpenSSL cannot sign")
    }
}
