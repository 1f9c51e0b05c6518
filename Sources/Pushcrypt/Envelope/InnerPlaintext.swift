/// What the ciphertext of an envelope holds. (`Docs/Format.md`, Inner plaintext)
///
///     off   len  field
///     0     4    sender key id
///     4     64   Ed25519 signature
///     68    1    content type
///     69    16   message id
///     85    8    sent at, milliseconds
///     93    4    time to live, seconds
///     97    2    body length
///     99    n    body
///     99+n  …    zero bytes up to the bucket
enum InnerPlaintext {
    static let senderKeyID = 0..<KeyID.length
    static let signature = senderKeyID.upperBound..<senderKeyID.upperBound + Ed25519.signatureLength
    static let contentType = signature.upperBound
    static let messageID = contentType + 1..<contentType + 1 + MessageID.length
    static let sentAt = messageID.upperBound..<messageID.upperBound + 8
    static let timeToLive = sentAt.upperBound..<sentAt.upperBound + 4
    static let bodyLength = timeToLive.upperBound..<timeToLive.upperBound + 2
    /// Where the body begins: the fixed overhead inside, 99 bytes.
    static let body = bodyLength.upperBound
    /// Where the signed part begins; it ends with the bucket.
    static let signed = contentType

    /// What the body is.
    enum ContentType: UInt8 {
        /// A payload.
        case payload = 0x01
        /// Rotation statements, then a payload.
        case rotationAndPayload = 0x02
    }
}

/// What a signature covers, put together for libsodium, which wants it in one piece.
///
///     "pushcrypt/1 signature" || 0x00 || envelope[0..<5] || enc || recipient public key || sender public key
///         || lp16(context) || inner[68...]
struct SignedMessage: ~Copyable {
    let bytes: Ephemeral

    init(
        header: Span<UInt8>, enc: Span<UInt8>, recipient: DevicePublicKey, sender: SenderPublicKey, topic: Topic,
        inner: Span<UInt8>
    ) {
        var prefix = ContiguousArray<UInt8>()
        prefix.reserveCapacity(160 + Topic.maximumLength)
        prefix.append("pushcrypt/1 signature\0")
        prefix.append(copying: header)
        prefix.append(copying: enc)
        prefix.append(contentsOf: recipient.bytes)
        prefix.append(contentsOf: sender.bytes)
        prefix.append(contentsOf: topic.lengthPrefixed)
        let signed = inner.extracting(InnerPlaintext.signed..<inner.count)
        var bytes = Ephemeral(count: prefix.count + signed.count)
        bytes.withMutableSpan { output in
            output.write(prefix.span, at: 0)
            output.write(signed, at: prefix.count)
        }
        self.bytes = bytes
    }
}

/// The `info` of HPKE: "pushcrypt/1 envelope" || 0x00 || envelope[0..<5] || lp16(context).
func envelopeInfo(header: Span<UInt8>, topic: Topic) -> ContiguousArray<UInt8> {
    var info = ContiguousArray<UInt8>()
    info.reserveCapacity(32 + Topic.maximumLength)
    info.append("pushcrypt/1 envelope\0")
    info.append(copying: header)
    info.append(contentsOf: topic.lengthPrefixed)
    return info
}
