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

extension ReceivedPush {
    /// Names what stands in `ENCRYPTED_DATA`, whether it is an envelope or not; nil where no string stands there.
    public var fingerprint: EnvelopeFingerprint? { encryptedText.map(EnvelopeFingerprint.init(of:)) }
}
