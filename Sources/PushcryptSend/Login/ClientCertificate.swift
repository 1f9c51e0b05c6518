internal import COpenSSL
internal import PushcryptCommandKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A client's certificate and private key. They are read once, so that neither their text nor the passphrase stays in memory.
@safe
final class ClientCertificate {
    /// The longest file that is read.
    private static let capacity = 65_536
    /// The certificates of authorities beside it that are sent.
    private static let maximumChain = 10

    private let key: OpaquePointer
    private let certificate: OpaquePointer
    private let chain: [OpaquePointer]

    /// Reads PEM, or PKCS #12.
    init(_ source: String, passphrase: String?, _ console: Console) throws {
        let parts = try unsafe Self.withPassphrase(passphrase, console) { (passphrase) throws in
            try unsafe withSecret(from: source, console, capacity: Self.capacity, isText: false) {
                (bytes) throws in
                let isArchive = unsafe bytes.first == 0x30
                return unsafe isArchive ? Self.archive(bytes, passphrase) : Self.text(bytes, passphrase)
            }
        }
        ERR_clear_error()
        guard let key = unsafe parts.key else {
            unsafe Self.free(nil, parts.certificates)
            throw Failure(
                .usage, "\(quoted(source)) has no private key that can be read",
                hints: [
                    "it must have certificate and key, as PEM or PKCS #12; --certificate-passphrase-file if the key is encrypted",
                    "an archive of a Mac's keychain: openssl pkcs12 -legacy -in FILE -out FILE.pem",
                ])
        }
        guard
            let own = unsafe parts.certificates.firstIndex(where: { unsafe X509_check_private_key($0, key) == 1 })
        else {
            ERR_clear_error()
            unsafe Self.free(key, parts.certificates)
            throw Failure.usage("\(quoted(source)) has no certificate for its private key")
        }
        var others = unsafe parts.certificates
        unsafe self.key = key
        unsafe certificate = others.remove(at: own)
        unsafe chain = others
    }

    /// Whether it has expired at a time, in seconds since 1970-01-01 UTC.
    func hasExpired(at time: UInt64) -> Bool {
        var time = time_t(clamping: time)
        return unsafe X509_cmp_time(X509_get0_notAfter(certificate), &time) < 0
    }

    /// The days until it ends.
    var daysLeft: Int {
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1 else { return 0 }
        return Int(days)
    }

    deinit {
        unsafe Self.free(key, [certificate] + chain)
    }

    private static func free(_ key: OpaquePointer?, _ certificates: [OpaquePointer]) {
        unsafe EVP_PKEY_free(key)
        unsafe certificates.forEach { unsafe X509_free($0) }
    }

    /// Calls `body` with the passphrase, which ends with a zero byte; an empty one if there is none, because OpenSSL would ask
    /// for it.
    private static func withPassphrase<R>(
        _ source: String?, _ console: Console, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        if let source { return try unsafe withSecret(from: source, console, body) }
        let none = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { unsafe none.deallocate() }
        unsafe none[0] = 0
        return try unsafe body(UnsafeRawBufferPointer(rebasing: none[..<0]))
    }

    private static func text(
        _ bytes: UnsafeRawBufferPointer, _ passphrase: UnsafeRawBufferPointer
    ) -> (key: OpaquePointer?, certificates: [OpaquePointer]) {
        var certificates: [OpaquePointer] = unsafe []
        if let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) {
            defer { unsafe BIO_free(source) }
            while unsafe certificates.count <= maximumChain,
                let next = unsafe PEM_read_bio_X509(source, nil, { _, _, _, _ in -1 }, nil)
            {
                unsafe certificates.append(next)
            }
        }
        guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
            return unsafe (nil, certificates)
        }
        defer { unsafe BIO_free(source) }
        // Without a function, the passphrase is the context.
        let context = unsafe UnsafeMutableRawPointer(mutating: passphrase.baseAddress)
        return unsafe (PEM_read_bio_PrivateKey(source, nil, nil, context), certificates)
    }

    private static func archive(
        _ bytes: UnsafeRawBufferPointer, _ passphrase: UnsafeRawBufferPointer
    ) -> (key: OpaquePointer?, certificates: [OpaquePointer]) {
        var start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let archive = unsafe d2i_PKCS12(nil, &start, bytes.count) else { return unsafe (nil, []) }
        defer { unsafe PKCS12_free(archive) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let words = unsafe passphrase.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard unsafe PKCS12_parse(archive, words, &key, &certificate, &others) == 1 else { return unsafe (nil, []) }
        var certificates = unsafe certificate.map { unsafe [$0] } ?? []
        while unsafe certificates.count <= maximumChain, let next = unsafe pushcrypt_take_certificate(others) {
            unsafe certificates.append(next)
        }
        unsafe pushcrypt_free_certificates(others)
        return unsafe (key, certificates)
    }

    /// Shows certificate and key on a connection; returns whether OpenSSL took them.
    func use(in context: OpaquePointer) -> Bool {
        unsafe SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
            && chain.allSatisfy { unsafe pushcrypt_add_chain_certificate(context, $0) == 1 }
    }
}
