/// The plaintext inside an envelope. (`Docs/Format.md`, Inner plaintext)
///
///     off   len  field
///     0     4    epoch
///     4     64   Ed25519 signature
///     68    1    kind: the push class, and whether the body begins with a certificate
///     69    16   message id
///     85    8    sent at, milliseconds
///     93    4    time to live, seconds
///     97    2    body length
///     99    n    body
///     99+n  …    zero bytes up to the bucket
package struct InnerPlaintext: ~Copyable {
    static let epoch = 0..<4
    static let signature = epoch.upperBound..<epoch.upperBound + Ed25519.signatureLength
    static let kind = signature.upperBound
    static let messageID = kind + 1..<kind + 1 + MessageID.length
    static let sentAt = messageID.upperBound..<messageID.upperBound + 8
    static let timeToLive = sentAt.upperBound..<sentAt.upperBound + 4
    static let bodyLength = timeToLive.upperBound..<timeToLive.upperBound + 2
    /// The offset of the body, and the fixed overhead inside: 99 bytes.
    package static let body = bodyLength.upperBound
    /// The offset of the signed part, the content, which extends to the end.
    static let signed = kind

    /// The parts of the kind byte.
    enum Kind {
        static let classMask: UInt8 = 0x0f
        static let reservedMask: UInt8 = 0x70
        static let hasCertificate: UInt8 = 0x80
    }

    private var bytes: Ephemeral
    /// The length in bytes.
    let bucket: Int

    /// Writes everything but the signature. `body` begins with the signer's certificate, if it has one, and fits into the bucket.
    init(
        _ body: Span<UInt8>, bucket: Int, _ pushClass: PushClass, _ id: MessageID, sentAt: Timestamp,
        timeToLive: Interval, by signer: EnvelopeSigner
    ) {
        self.bucket = bucket
        bytes = Ephemeral(count: bucket)
        bytes.withMutableBytes { inner in
            inner.write(bigEndian: signer.epoch, at: Self.epoch.lowerBound)
            inner[Self.kind] = pushClass.rawValue | (signer.certificate == nil ? 0 : Kind.hasCertificate)
            inner.write(id.bytes.span, at: Self.messageID.lowerBound)
            inner.write(bigEndian: sentAt.milliseconds, at: Self.sentAt.lowerBound)
            inner.write(bigEndian: UInt32(clamping: timeToLive.seconds), at: Self.timeToLive.lowerBound)
            inner.write(bigEndian: UInt16(body.count), at: Self.bodyLength.lowerBound)
            inner.write(body, at: Self.body)
        }
    }

    var contentHash: ContiguousArray<UInt8> { bytes.withSpan { Pushcrypt.contentHash(of: $0) } }

    mutating func sign(_ message: ContiguousArray<UInt8>, by signer: EnvelopeSigner) {
        let signature = signer.signature(of: message.span)
        bytes.withMutableBytes { $0.write(signature.span, at: Self.signature.lowerBound) }
    }

    func encrypt(
        with context: borrowing HPKEContext, appendingTo envelope: inout ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        let empty = ContiguousArray<UInt8>()
        try bytes.withSpan { (inner) throws(SodiumRefusal) in
            try context.seal(inner, authenticating: empty.span, appendingTo: &envelope)
        }
    }
}

/// The class of a push, under the signature: a receiver opens only the class that the system woke it for.
///
/// Otherwise the relay could turn an alert into a call. (`Docs/Format.md`, O-6.1)
public enum PushClass: UInt8, CaseIterable, Sendable {
    /// Shown to the user; the notification service extension opens it.
    case alert = 1
    /// Wakes the app, which opens it; shows nothing.
    case background = 2
    /// A call; the app opens it.
    case call = 3
}

/// Returns the hash of the signed part of an inner plaintext, for the signature and the hedge.
func contentHash(of inner: Span<UInt8>) -> ContiguousArray<UInt8> {
    SHA256.digest(inner.extracting(InnerPlaintext.signed..<inner.count))
}

/// The keys that a signature names.
struct SignedBy {
    let provider: ProviderPublicKey
    /// The key that signs; at epoch 0, the provider key again.
    let signing: ContiguousArray<UInt8>
    let epoch: UInt32
}

/// Returns the message to sign: 193 bytes and those of the context.
///
///     "pushcrypt/1 signature" || 0x00 || envelope[0..<5] || enc || recipient public key || provider public key
///         || signing public key || epoch || lp16(context) || content hash
///
/// In suite 2, enc and the recipient's key are their SHA-256. `recipient` is the key's transcript.
func signedMessage(
    header: Span<UInt8>, enc: Span<UInt8>, _ suite: CipherSuite, recipient: ContiguousArray<UInt8>,
    by keys: SignedBy, topic: Topic, contentHash: ContiguousArray<UInt8>
) -> ContiguousArray<UInt8> {
    var message = ContiguousArray<UInt8>()
    message.reserveCapacity(192 + topic.lengthPrefixed.count)
    message.append("pushcrypt/1 signature\0")
    message.append(copying: header)
    switch suite {
    case .x25519: message.append(copying: enc)
    case .xwing: message.append(contentsOf: SHA256.digest(enc))
    }
    message.append(contentsOf: recipient)
    message.append(contentsOf: keys.provider.bytes)
    message.append(contentsOf: keys.signing)
    message.append(bigEndian: keys.epoch)
    message.append(contentsOf: topic.lengthPrefixed)
    message.append(contentsOf: contentHash)
    return message
}

/// Returns the `info` of HPKE: "pushcrypt/1 envelope" || 0x00 || envelope[0..<5] || lp16(context).
func envelopeInfo(header: Span<UInt8>, topic: Topic) -> ContiguousArray<UInt8> {
    var info = ContiguousArray<UInt8>()
    info.reserveCapacity(32 + Topic.maximumLength)
    info.append("pushcrypt/1 envelope\0")
    info.append(copying: header)
    info.append(contentsOf: topic.lengthPrefixed)
    return info
}

/// The id of a message, 16 bytes: the same each time the message is sealed, so that a receiver shows it once.
///
/// (`Docs/Format.md`, Randomness and Replay)
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The length in bytes.
    package static let length = 16

    /// The 16 bytes.
    public let bytes: ContiguousArray<UInt8>

    /// Creates an id from 16 bytes; returns nil for another length.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = ContiguousArray(copying: bytes)
    }

    /// Derives the id of a message from a name, for example the id of a row in the caller's queue. The same name gives
    /// the same id, so that a retry is shown once. The name itself is not sent.
    public init(callerName name: String) {
        let hash = SHA256()
        hash.update("pushcrypt/1 caller id\0")
        hash.update(ContiguousArray(name.utf8).span)
        self.init(prefixOf: hash.finish().span)
    }

    init(prefixOf digest: Span<UInt8>) {
        bytes = ContiguousArray(copying: digest.extracting(0..<Self.length))
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { bytes.hex }
}
