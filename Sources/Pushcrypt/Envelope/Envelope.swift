/// What travels inside `ENCRYPTED_DATA`: parsed, and not authenticated by anything.
///
/// Only `Opener` makes an `OpenedNotification` of it. (`Docs/Format.md`, Envelope)
///
///     off   len  field
///     0     1    suite = 0x01
///     1     4    recipient key id
///     5     32   enc (KEM share)
///     37    N    ciphertext
///     37+N  16   Poly1305 tag
public struct Envelope: Hashable, Sendable {
    /// The suite this version writes and reads: HPKE base mode with X25519, HKDF-SHA256 and ChaCha20-Poly1305, and Ed25519
    /// inside.
    public static let suite = Suite.current

    /// The bytes around the inner plaintext: suite, key id, KEM share and tag.
    static let overhead = headerLength + DHKEM.encLength + ChaCha20Poly1305.tagLength

    /// The longest text of an envelope in characters.
    static let maximumTextLength = Base64URL.encodedLength(overhead + Bucket.largest)

    static let headerLength = 1 + KeyID.length
    private static let encRange = headerLength..<headerLength + DHKEM.encLength

    /// The envelope as bytes.
    public let bytes: ContiguousArray<UInt8>

    /// Names the key the envelope was sealed to; a hint.
    public var recipientKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }

    /// The KEM share: an X25519 public key that is used once.
    public var enc: ContiguousArray<UInt8> { ContiguousArray(bytes[Self.encRange]) }

    /// The length of the inner plaintext: one of the buckets.
    public var innerLength: Int { bytes.count - Self.overhead }

    /// Parses the text; throws `malformedEnvelope` or `unsupportedSuite`. No cryptography runs.
    public init(text: Span<UInt8>) throws(OpenError) {
        guard (1...Self.maximumTextLength).contains(text.count), let bytes = Base64URL.decode(text), !bytes.isEmpty
        else {
            throw OpenError(
                .malformedEnvelope,
                "ENCRYPTED_DATA is not 1 to \(Self.maximumTextLength) characters of base64url without padding; pass it on unchanged"
            )
        }
        guard bytes[0] == Self.suite else {
            throw OpenError(
                .unsupportedSuite,
                "ENCRYPTED_DATA begins with suite \(bytes[0]), this version reads suite \(Self.suite); update the receiver"
            )
        }
        guard Bucket.all.contains(bytes.count - Self.overhead) else {
            throw OpenError(
                .malformedEnvelope,
                "ENCRYPTED_DATA holds \(bytes.count) bytes, which is no length of an envelope: it was cut or extended")
        }
        self.bytes = bytes
    }

    /// Parses the text; throws `malformedEnvelope` or `unsupportedSuite`. No cryptography runs.
    public init(text: String) throws(OpenError) {
        try self.init(text: ContiguousArray(text.utf8).span)
    }

    /// Takes what the sealer built.
    init(sealed bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
    }

    /// The envelope as base64url without padding: the value of `ENCRYPTED_DATA`.
    public var text: String { Base64URL.string(bytes.span) }

    /// Reads suite and recipient key id, which the KEM and the signature bind.
    func withHeader<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = bytes
        return try body(bytes.span.extracting(0..<Self.headerLength))
    }

    func withEnc<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = bytes
        return try body(bytes.span.extracting(Self.encRange))
    }

    func withCiphertext<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = bytes
        return try body(bytes.span.extracting(Self.encRange.upperBound..<bytes.count))
    }
}

/// The possible lengths of an inner plaintext, so that an envelope's length reveals little about its content.
///
/// A sealer uses the smallest that fits; a receiver accepts any. (`Docs/Format.md`, Buckets)
package enum Bucket {
    /// Every length, ascending, in bytes.
    static let all = [256, 512, 1024, 1536, 2048, 2560, largestForAlert, largest]

    /// The largest whose envelope fits a push of 4096 bytes.
    static let largestForAlert = 2816
    /// The largest whose envelope fits a push of 5120 bytes.
    static let largest = 3584

    /// The smallest bucket that holds `innerLength` bytes and is at most `limit`, or nil.
    package static func smallest(holding innerLength: Int, limit: Int) -> Int? {
        all.first { $0 >= innerLength && $0 <= limit }
    }
}

/// Names one envelope in the logs of provider, command line and phone: 4 bytes, printed as 8 hexadecimal digits.
///
/// The first 4 bytes of SHA-256 of the *text* of `ENCRYPTED_DATA`, as UTF-8. Every text has one, a text that is no envelope
/// included, so a phone can name what it could not read. `printf %s "$TEXT" | sha256sum` gives the same digits.
///
/// It says nothing of the content, and an envelope has one text, so it has one fingerprint. It proves nothing: who writes
/// the text can search for one with a given fingerprint. A retry is another envelope and has another fingerprint; what stays
/// the same is the message id.
public struct EnvelopeFingerprint: Hashable, Sendable, LosslessStringConvertible {
    private static let length = 4

    /// The four bytes as a big-endian number.
    public let value: UInt32

    /// Takes the four bytes as a big-endian number.
    public init(value: UInt32) {
        self.value = value
    }

    /// Takes the fingerprint of what stands in `ENCRYPTED_DATA`.
    public init(of text: String) {
        let digest = SHA256.digest(ContiguousArray(text.utf8).span)
        self.init(value: digest.span.bigEndian(at: 0))
    }

    /// Reads eight lower-case hexadecimal digits, or gives nil.
    public init?(_ description: String) {
        guard let value = UInt32(description, radix: 16) else { return nil }
        self.init(value: value)
        if self.description != description { return nil }
    }

    /// Eight lower-case hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 2 * Self.length - digits.count) + digits
    }
}

extension Envelope {
    /// Names this envelope in logs.
    public var fingerprint: EnvelopeFingerprint { EnvelopeFingerprint(of: text) }
}
