/// The secret with which a provider asks for answers and opens them, for one app: 32 random bytes.
///
/// A thief of it reads and forges answers, but no messages. It is in guarded memory, which all references share, is wiped
/// with the last of them, and is never printed. Any number of threads may use one at the same time.
/// (`Docs/FormatRecords.md`, Answers)
public final class AnswerSecret: Sendable {
    /// The length in bytes.
    package static let length = 32

    private let secret: SecretBytes

    /// Generates a secret from the system's random source.
    public init() { secret = SecretBytes(randomCount: Self.length) }

    /// Copies 32 bytes, which the caller wipes.
    ///
    /// - Throws: `malformedKey` for another length.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "an answer secret has \(Self.length) bytes, not \(bytes.count)")
        }
        secret = SecretBytes(copying: bytes)
    }

    /// Calls `body` with the 32 bytes, for a file that only its owner reads; its result must not contain a copy that is
    /// not protected.
    public func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSpan(body)
    }

    /// Returns the answer id of a message.
    func id(of message: MessageID, sentAt: Timestamp, to recipient: DevicePublicKey, _ topic: Topic) -> Bytes {
        let hmac = secret.withSpan { HMACSHA256(key: $0) }
        hmac.update("pushcrypt/1 answer id\0")
        hmac.update(Self.asked(recipient, topic).span)
        hmac.update(message.bytes.span)
        hmac.update(bigEndian: sentAt.milliseconds)
        return hmac.withTag { Bytes(copying: $0.extracting(0..<AnswerKey.idLength)) }
    }

    /// Returns what the receiver of a message answers with, for the message's answer id.
    func key(for id: Bytes, to recipient: DevicePublicKey, _ topic: Topic) throws(SodiumRefusal) -> AnswerKey {
        let asked = Self.asked(recipient, topic)
        let prk = secret.withSpan { secret in HKDF.extract(salt: id.span) { $0.update(secret) } }
        let key = try prk.withSpan { (prk) throws(SodiumRefusal) in
            try HKDF.expand(prk: prk, length: AnswerKey.keyLength) { hmac in
                hmac.update("pushcrypt/1 answer\0")
                hmac.update(asked.span)
            }
        }
        return key.withSpan { AnswerKey(id: id, key: $0) }
    }

    /// Returns what the receiver of a message answers with.
    func key(
        of message: MessageID, sentAt: Timestamp, to recipient: DevicePublicKey, _ topic: Topic
    ) throws(SodiumRefusal) -> AnswerKey {
        try key(for: id(of: message, sentAt: sentAt, to: recipient, topic), to: recipient, topic)
    }

    /// The recipient and app that a value is for: SHA-256(recipient public key) || lp16(context).
    private static func asked(_ recipient: DevicePublicKey, _ topic: Topic) -> Bytes {
        SHA256.digest(recipient.bytes.span) + topic.lengthPrefixed
    }
}

extension AnswerSecret: CustomStringConvertible, CustomReflectable {
    /// Nothing secret is printed.
    public var description: String { "AnswerSecret" }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
