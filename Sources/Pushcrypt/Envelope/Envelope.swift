/// The sealed content of a push, the value of `ENCRYPTED_DATA`: parsed, but not authenticated.
///
/// An ``Opener`` opens it. (`Docs/Format.md`, Envelope)
///
///     off   len  field
///     0     1    suite = 0x01
///     1     4    recipient key id
///     5     32   enc (KEM share)
///     37    N    ciphertext
///     37+N  16   Poly1305 tag
public struct Envelope: Hashable, Sendable {
    /// The suite that this version writes and reads: HPKE base mode with X25519, HKDF-SHA256 and ChaCha20-Poly1305, and
    /// Ed25519 inside.
    public static let suite = Suite.current

    /// The number of bytes added to the inner plaintext: suite, key id, KEM share and tag.
    static let overhead = headerLength + DHKEM.encLength + ChaCha20Poly1305.tagLength

    /// The maximum length of the text of an envelope in characters.
    static let maximumTextLength = Base64URL.encodedLength(overhead + Bucket.largest)

    static let headerLength = 1 + KeyID.length
    private static let encRange = headerLength..<headerLength + DHKEM.encLength

    /// The envelope as bytes.
    public let bytes: ContiguousArray<UInt8>

    /// The id of the key that the envelope was sealed to; a hint.
    public var recipientKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }

    /// The KEM share: an X25519 public key for this envelope only.
    public var enc: ContiguousArray<UInt8> { ContiguousArray(bytes[Self.encRange]) }

    /// The length of the inner plaintext: one of the buckets.
    public var innerLength: Int { bytes.count - Self.overhead }

    /// Parses the text of an envelope, without any cryptography.
    ///
    /// - Throws: `malformedEnvelope` or `unsupportedSuite`.
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
                "ENCRYPTED_DATA has suite \(bytes[0]), this version supports suite \(Self.suite); update the receiver"
            )
        }
        guard Bucket.all.contains(bytes.count - Self.overhead) else {
            throw OpenError(
                .malformedEnvelope,
                "ENCRYPTED_DATA has \(bytes.count) bytes, which is not a length of an envelope: it was cut or extended")
        }
        self.bytes = bytes
    }

    /// Parses the text of an envelope, without any cryptography.
    ///
    /// - Throws: `malformedEnvelope` or `unsupportedSuite`.
    public init(text: String) throws(OpenError) {
        try self.init(text: ContiguousArray(text.utf8).span)
    }

    /// Creates an envelope from a sealer's output.
    init(sealed bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
    }

    /// The envelope as base64url without padding, the value of `ENCRYPTED_DATA`.
    public var text: String { Base64URL.string(bytes.span) }

    /// Calls `body` with suite and recipient key id, to which KEM and signature are bound.
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
    /// All lengths in bytes, in ascending order.
    static let all = [256, 512, 1024, 1536, 2048, 2560, largestForAlert, largest]

    /// The largest length whose envelope fits into a push of 4096 bytes.
    static let largestForAlert = 2816
    /// The largest length whose envelope fits into a push of 5120 bytes.
    static let largest = 3584

    /// Returns the smallest bucket for `innerLength` bytes that is at most `limit`, or nil.
    package static func smallest(holding innerLength: Int, limit: Int) -> Int? {
        all.first { $0 >= innerLength && $0 <= limit }
    }
}

/// A name for one envelope in the logs of provider, command line and phone: 4 bytes, printed as 8 hexadecimal digits.
///
/// The first 4 bytes of SHA-256 of the *text* of `ENCRYPTED_DATA`, as UTF-8. Any text has a fingerprint, even if it is
/// not an envelope, so that a phone can name what it could not read. `printf %s "$TEXT" | sha256sum` prints the same
/// digits.
///
/// It reveals nothing about the content. An envelope has exactly one text and so one fingerprint. A fingerprint proves
/// nothing: the author of a text can search for one with a given fingerprint. A retry is a new envelope with a new
/// fingerprint, but the same message id.
public struct EnvelopeFingerprint: Hashable, Sendable, LosslessStringConvertible {
    private static let length = 4

    /// The four bytes as a big-endian number.
    public let value: UInt32

    /// Creates a fingerprint from the four bytes as a big-endian number.
    public init(value: UInt32) {
        self.value = value
    }

    /// Computes the fingerprint of a value of `ENCRYPTED_DATA`.
    public init(of text: String) {
        let digest = SHA256.digest(ContiguousArray(text.utf8).span)
        self.init(value: digest.span.bigEndian(at: 0))
    }

    /// Parses eight lower-case hexadecimal digits; returns nil for anything else.
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
    /// The fingerprint, which names this envelope in logs.
    public var fingerprint: EnvelopeFingerprint { EnvelopeFingerprint(of: text) }
}
