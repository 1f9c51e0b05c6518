@testable import Pushcrypt

/// A message whose every field a test chooses, sealed as the format says: what no sealer of this library would write.
struct CraftedMessage {
    var epoch: UInt32 = 0
    /// The low four bits are the push class.
    var kind: UInt8 = 0x01
    var sentAt = FormatFixture.now
    var timeToLive: UInt32 = 3600
    /// The bytes before the payload.
    var certificate: Bytes = []
    var payload = Bytes(alertPayload().utf8)
    /// The value of the field, if it is not the length of certificate and payload.
    var bodyLength: UInt16?
    var padding: UInt8 = 0
    /// The keys in the signed text.
    var provider: Bytes
    var signing: Bytes
    /// The epoch in the signed text, if it is not that of the message.
    var signedEpoch: UInt32?
    var topic: Topic
    /// Signs; the key need not be the one that the text names.
    var sign: @Sendable (Bytes) -> Bytes

    /// A message of epoch 0, by a provider key.
    init(by key: ProviderKey, _ topic: Topic) {
        provider = key.publicKey.bytes
        signing = key.publicKey.bytes
        self.topic = topic
        sign = { key.signature(of: $0.span) }
    }

    /// A message with a certificate, by the key that it is about.
    init(_ issued: Issuer.Issued, by issuer: Issuer) {
        self.init(by: issuer.provider, issuer.topic)
        epoch = issued.certificate.epoch
        kind = 0x81
        certificate = issued.certificate.bytes
        signing = issued.key.publicKey.bytes
        sign = { issued.key.signature(of: $0.span) }
    }

    /// Changes a copy.
    func with(_ change: (inout CraftedMessage) -> Void) -> CraftedMessage {
        var copy = self
        change(&copy)
        return copy
    }

    func sealed(to device: DevicePublicKey, bucket: Int = 512) throws -> Envelope {
        let body = certificate + payload
        var inner = Bytes()
        inner.append(bigEndian: epoch)
        inner += Bytes(repeating: 0, count: 64)
        inner.append(kind)
        inner += Bytes(repeating: 9, count: 16)
        inner.append(bigEndian: sentAt.milliseconds)
        inner.append(bigEndian: timeToLive)
        inner.append(bigEndian: bodyLength ?? UInt16(body.count))
        inner += body
        inner += Bytes(repeating: padding, count: bucket - inner.count)

        var header = Bytes([device.suite.rawValue])
        header.append(bigEndian: device.id.value)
        let seed = Bytes(repeating: 3, count: 32)
        let encapsulation = try KEM.encapsulate(to: device, ikm: seed.span)
        let enc = encapsulation.enc
        let keys = SignedBy(
            provider: try ProviderPublicKey(bytes: provider.span), signing: signing, epoch: signedEpoch ?? epoch)
        let message = signedMessage(
            header: header.span, enc: enc.span, device.suite, recipient: device.transcript, by: keys, topic: topic,
            contentHash: contentHash(of: inner.span))
        inner.replaceSubrange(4..<68, with: sign(message))
        let info = envelopeInfo(header: header.span, topic: topic)
        let context = try HPKEContext(.of(device.suite), sharedSecret: encapsulation.sharedSecret, info: info.span)
        var bytes = header + enc
        try context.seal(inner.span, authenticating: Bytes().span, appendingTo: &bytes)
        return Envelope(sealed: bytes, device.suite)
    }
}

extension FormatFixture {
    /// The phone's result for a crafted message: the notification, or the code.
    func open(
        _ message: CraftedMessage, trust: ProviderTrust? = nil, at now: Timestamp = Self.now,
        as pushClass: PushClass = .alert
    ) throws -> Result<OpenedNotification, OpenError> {
        let envelope = try message.sealed(to: device.publicKey)
        let opener = opener(trust: trust)
        return Result { () throws(OpenError) in try opener.open(envelope, at: now, as: pushClass) }
    }
}

extension Result where Success == OpenedNotification, Failure == OpenError {
    /// Why it does not open; nil if it does.
    var code: OpenError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
