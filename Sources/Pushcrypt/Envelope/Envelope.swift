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
    public static let suite: UInt8 = 0x01

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
