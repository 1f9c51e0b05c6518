internal import COpenSSL
internal import PushcryptCommandKit

/// The private key that signs provider tokens, from the file that Apple creates, however a secret store has written it.
@safe
final class ProviderKey {
    /// The bytes of r and s each.
    private static let half = 32

    private let key: OpaquePointer

    /// Reads one unencrypted key on the curve P-256: PKCS #8 or SEC1, as PEM or its base64 alone, with a byte order mark, other line
    /// ends or `\n` in their place, and base64 of all that. Every source that `readSecret` reads is possible, and as strict.
    init(_ source: String, _ console: Console) throws {
        let key: Result<OpaquePointer, Problem> = try unsafe withSecret(from: source, console) { (text) in
            do throws(Problem) { return unsafe .success(try Self.key(text)) } catch { return unsafe .failure(error) }
        }
        ERR_clear_error()
        switch unsafe key {
        case .success(let key): unsafe self.key = key
        case .failure(let problem):
            throw Failure(
                .usage, "\(quoted(source)) is not an APNs key: \(problem.rawValue)",
                hints: ["give the .p8 file from the developer account: one unencrypted private key on the curve P-256"])
        }
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Why a file is no key.
    private enum Problem: String, Error {
        case encrypted = "it is encrypted"
        case isPublic = "it is a public key"
        case certificate = "it is a certificate"
        case several = "it has more than one key"
        case curve = "it is a key on another curve"
        case kind = "it is a key of another kind, not on an elliptic curve"
        case damaged = "it is cut, changed or something else"
    }

    /// - Parameter isInner: Whether the text was base64 itself.
    private static func key(_ text: UnsafeRawBufferPointer, isInner: Bool = false) throws(Problem) -> OpaquePointer {
        let clean = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * text.count + 8)
        defer {
            unsafe OPENSSL_cleanse(clean.baseAddress, clean.count)
            unsafe clean.deallocate()
        }
        var count = unsafe strip(text, into: clean)
        var start = 0
        let dashes = "-----".utf8
        let begins = unsafe places(of: "-----BEGIN", in: clean[..<count])
        if let begin = begins.first {
            guard begins.count == 1 else { throw .several }
            let label = begin + "-----BEGIN".utf8.count
            guard let end = unsafe places(of: "-----", in: clean[label..<count]).first else { throw .damaged }
            switch unsafe String(decoding: clean[label..<end], as: UTF8.self) {
            case "PRIVATEKEY", "ECPRIVATEKEY": break
            case "ENCRYPTEDPRIVATEKEY": throw .encrypted
            case "PUBLICKEY": throw .isPublic
            case "CERTIFICATE": throw .certificate
            case "RSAPRIVATEKEY": throw .kind
            default: throw .damaged
            }
            start = end + dashes.count
            guard let last = unsafe places(of: "-----END", in: clean[start..<count]).first else { throw .damaged }
            count = last
            // The older form of encryption (RFC 1421).
            guard unsafe places(of: "ENCRYPTED", in: clean[start..<count]).isEmpty else { throw .encrypted }
        }
        while (count - start) % 4 != 0 {
            unsafe clean[count] = UInt8(ascii: "=")
            count += 1
        }
        let decoded = clean.count / 2
        let length = unsafe EVP_DecodeBlock(
            clean.baseAddress.map { unsafe $0 + decoded }, clean.baseAddress.map { unsafe $0 + start },
            Int32(count - start))
        let padding = unsafe clean[start..<count].suffix(2).count { $0 == UInt8(ascii: "=") }
        guard length > Int32(padding) else { throw .damaged }
        let bytes = unsafe UnsafeRawBufferPointer(
            UnsafeBufferPointer(rebasing: clean[decoded..<decoded + Int(length) - padding]))
        let isText = unsafe bytes.first != 0x30
        if begins.isEmpty, !isInner, isText { return try unsafe key(bytes, isInner: true) }
        return try unsafe parse(bytes)
    }

    /// Copies a text without what stands between its characters; returns their number.
    private static func strip(_ text: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        var isEscape = false
        let mark = unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        for index in text.indices.dropFirst(mark) {
            let byte = unsafe text[index]
            defer { isEscape = byte == UInt8(ascii: "\\") }
            if isEscape && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "r")) { continue }
            if byte <= 0x20 || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") { continue }
            unsafe room[count] = byte
            count += 1
        }
        return count
    }

    private static func places(of text: String, in bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> [Int] {
        unsafe bytes.indices.filter { unsafe bytes[$0...].starts(with: text.utf8) }
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> OpaquePointer {
        var start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let key = unsafe d2i_AutoPrivateKey(nil, &start, bytes.count) else { throw .damaged }
        var name = ContiguousArray<CChar>(repeating: 0, count: 32)
        var length = 0
        let isCurve = unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_EC
        let isNamed = unsafe name.withUnsafeMutableBufferPointer {
            unsafe EVP_PKEY_get_group_name(key, $0.baseAddress, $0.count, &length)
        }
        let right = SN_X9_62_prime256v1.utf8.map { CChar(bitPattern: $0) }
        guard isCurve, isNamed == 1, name[..<length].elementsEqual(right) else {
            unsafe EVP_PKEY_free(key)
            throw isCurve ? .curve : .kind
        }
        return unsafe key
    }

    /// Signs with ECDSA and SHA-256; returns r and s as a token has them (RFC 7518, section 3.4).
    func signature(of text: ContiguousArray<UInt8>) throws -> ContiguousArray<UInt8> {
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

    private static var failure: Failure {
        ERR_clear_error()
        return .failed("OpenSSL cannot sign")
    }
}
