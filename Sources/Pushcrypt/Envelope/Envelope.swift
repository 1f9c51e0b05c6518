/// The sealed content of a push, the value of `ENCRYPTED_DATA`: parsed, but not authenticated.
///
/// An ``Opener`` opens it. (`Docs/Format.md`, Envelope)
///
///     off   len  field
///     0     1    suite: 0x01, 0x02
///     1     4    recipient key id
///     5     e    enc (KEM share): 32 bytes, 1120
///     5+e   N    ciphertext
///     …     16   Poly1305 tag
public struct Envelope: Hashable, Sendable {
    /// The number of bytes added to the inner plaintext: suite, key id, KEM share and tag.
    package static func overhead(_ suite: CipherSuite) -> Int {
        headerLength + suite.encLength + ChaCha20Poly1305.tagLength
    }

    /// The maximum length of the text of an envelope in characters, the same for both suites.
    static let maximumTextLength = Base64URL.encodedLength(overhead(.x25519) + Bucket.largest(.x25519))

    static let headerLength = 1 + KeyID.length
    private var encRange: Range<Int> { Self.headerLength..<Self.headerLength + suite.encLength }

    /// The envelope as bytes.
    package let bytes: ContiguousArray<UInt8>
    /// The suite, which that of the recipient's key must be.
    package let suite: CipherSuite

    /// The id of the key that the envelope was sealed to; a hint.
    package var recipientKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }

    /// The KEM share, for this envelope only: an X25519 public key, or X-Wing's ciphertext.
    package var enc: ContiguousArray<UInt8> { ContiguousArray(bytes[encRange]) }

    /// The length of the inner plaintext: one of the buckets.
    package var innerLength: Int { bytes.count - Self.overhead(suite) }

    /// Parses the text of an envelope, without any cryptography.
    ///
    /// - Throws: `malformedEnvelope`, or `unsupportedSuite` for a suite that this build cannot open.
    package init(text: Span<UInt8>) throws(OpenError) {
        try self.init(text: text) { $0.isSupported }
    }

    /// Parses the text of an envelope that is only shown, of any suite of the format.
    package init(inspecting text: Span<UInt8>) throws(OpenError) {
        try self.init(text: text) { _ in true }
    }

    private init(text: Span<UInt8>, _ isKnown: (CipherSuite) -> Bool) throws(OpenError) {
        guard (1...Self.maximumTextLength).contains(text.count), let bytes = Base64URL.decode(text), !bytes.isEmpty
        else {
            throw OpenError(
                .malformedEnvelope,
                "ENCRYPTED_DATA is not 1 to \(Self.maximumTextLength) characters of base64url without padding; pass it on unchanged"
            )
        }
        guard let suite = CipherSuite(rawValue: bytes[0]) else {
            throw OpenError(
                .unsupportedSuite,
                "ENCRYPTED_DATA has suite \(bytes[0]), this version supports suites 1 and 2; update the receiver")
        }
        guard isKnown(suite) else {
            throw OpenError(.unsupportedSuite, "ENCRYPTED_DATA has suite 2; \(CipherSuite.requirement)")
        }
        guard Bucket.all(suite).contains(bytes.count - Self.overhead(suite)) else {
            throw OpenError(
                .malformedEnvelope,
                "ENCRYPTED_DATA has \(bytes.count) bytes, which is not a length of an envelope: it was cut or extended")
        }
        self.bytes = bytes
        self.suite = suite
    }

    /// Parses the text of an envelope, without any cryptography.
    ///
    /// - Throws: `malformedEnvelope`, or `unsupportedSuite` for a suite that this build cannot open.
    package init(text: String) throws(OpenError) {
        try self.init(text: ContiguousArray(text.utf8).span)
    }

    /// Returns the header of an envelope for a device, in an array with room for the whole envelope.
    static func header(for device: DevicePublicKey, bucket: Int) -> ContiguousArray<UInt8> {
        var header = ContiguousArray<UInt8>()
        header.reserveCapacity(overhead(device.suite) + bucket)
        header.append(device.suite.rawValue)
        header.append(bigEndian: device.id.value)
        return header
    }

    /// Creates an envelope from a sealer's output.
    init(sealed bytes: ContiguousArray<UInt8>, _ suite: CipherSuite) {
        self.bytes = bytes
        self.suite = suite
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
        return try body(bytes.span.extracting(encRange))
    }

    func withCiphertext<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = bytes
        return try body(bytes.span.extracting(encRange.upperBound..<bytes.count))
    }
}

/// The possible lengths of an inner plaintext, so that an envelope's length reveals little about its content.
///
/// A sealer uses the smallest that fits; a receiver accepts any. (`Docs/Format.md`, Buckets)
package enum Bucket {
    private static let x25519 = [256, 512, 1024, 1536, 2048, 2560, 2816, 3584]
    private static let xwing = [256, 512, 1024, 1536, 1728, 2048, 2496]

    /// All lengths in bytes, in ascending order.
    package static func all(_ suite: CipherSuite) -> [Int] { suite == .x25519 ? x25519 : xwing }

    /// The largest length whose envelope fits into a push of 4096 bytes.
    static func largestForAlert(_ suite: CipherSuite) -> Int { suite == .x25519 ? 2816 : 1728 }
    /// The largest length whose envelope fits into a push of 5120 bytes.
    static func largest(_ suite: CipherSuite) -> Int { suite == .x25519 ? 3584 : 2496 }

    /// Returns the smallest bucket for `innerLength` bytes that is at most `limit`, or nil.
    package static func smallest(holding innerLength: Int, limit: Int, _ suite: CipherSuite) -> Int? {
        all(suite).first { $0 >= innerLength && $0 <= limit }
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
    package let value: UInt32

    /// Creates a fingerprint from the four bytes as a big-endian number.
    package init(value: UInt32) {
        self.value = value
    }

    /// Computes the fingerprint of a value of `ENCRYPTED_DATA`.
    package init(of text: String) {
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
