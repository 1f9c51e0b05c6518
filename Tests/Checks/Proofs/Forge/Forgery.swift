import Pushcrypt

/// An envelope by hand, from the tables of `Docs/Format.md`: genuine as it is made, and any part of it can be another's.
struct Forgery {
    /// What the encryption is bound to.
    struct Info {
        var suite: UInt8 = 0x01
        var device: ForgedDevice
        var topic: String
    }

    /// What the signature is bound to.
    struct Signed {
        var suite: UInt8 = 0x01
        var device: ForgedDevice
        var sender: ForgedSender
        var topic: String
        var contentType: UInt8 = 0x01
    }

    // The outside, which anybody can write.
    var suite: UInt8 = 0x01
    var recipientID: [UInt8]

    var info: Info
    var signed: Signed

    // The inside.
    var senderID: [UInt8]
    var contentType: UInt8 = 0x01
    var messageID = [UInt8](repeating: 7, count: 16)
    var sentAt: UInt64
    var timeToLive: UInt64 = 2_592_000
    var body: [UInt8]
    var bucket: Int
    /// Set apart from the body's own.
    var bodyLength: Int?
    /// Changes what is signed, before it is signed: the inner plaintext.
    var changeContent: (inout [UInt8]) -> Void = { _ in }
    /// Makes the signature; nil for an honest one.
    var signature: ((_ message: [UInt8], ForgedSender) -> [UInt8])?
    /// Changes the signature afterwards.
    var changeSignature: (inout [UInt8]) -> Void = { _ in }

    /// The sender's ephemeral scalar.
    var ephemeral: [UInt8]
    /// Sent instead of the ephemeral's public key.
    var enc: [UInt8]?
    /// Used instead of the Diffie-Hellman result.
    var sharedPoint: [UInt8]?

    init(
        to device: ForgedDevice, from sender: ForgedSender, topic: String, body: [UInt8], bucket: Int, sentAt: UInt64,
        ephemeral: [UInt8]
    ) {
        recipientID = device.id
        info = Info(device: device, topic: topic)
        signed = Signed(device: device, sender: sender, topic: topic)
        senderID = sender.id
        self.body = body
        self.bucket = bucket
        self.sentAt = sentAt
        self.ephemeral = ephemeral
    }

    func bytes() -> [UInt8] {
        let enc = enc ?? Primitives.x25519Base(ephemeral)
        guard let point = sharedPoint ?? Primitives.x25519(ephemeral, info.device.publicKey) else {
            fatalError("an ephemeral key that gives zero")
        }
        let keys = MessageKeys(sharedPoint: point, enc: enc, info)
        return [suite] + recipientID + enc + Primitives.encrypt(inner(enc), key: keys.key, nonce: keys.nonce)
    }

    func text() -> [UInt8] { Base64.encode(bytes()) }

    private func inner(_ enc: [UInt8]) -> [UInt8] {
        let length = bigEndian(UInt64(bodyLength ?? body.count), 2)
        var inner = senderID + [UInt8](repeating: 0, count: 64)
        inner += [contentType] + messageID + bigEndian(sentAt, 8) + bigEndian(timeToLive, 4) + length + body
        inner += [UInt8](repeating: 0, count: bucket - inner.count)
        changeContent(&inner)

        var content = Array(inner[68...])
        content[0] = signed.contentType
        var message = Array("pushcrypt/1 signature\0".utf8) + [signed.suite] + signed.device.id + enc
        message += signed.device.publicKey + signed.sender.publicKey + lp16(signed.topic) + Primitives.sha256(content)
        var signature =
            signature?(message, signed.sender) ?? Primitives.sign(message, signed.sender.secretKey)
        changeSignature(&signature)
        inner.replaceSubrange(4..<68, with: signature)
        return inner
    }
}

/// Key and nonce of one message: RFC 9180, base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305.
struct MessageKeys: Hashable {
    let key: [UInt8]
    let nonce: [UInt8]

    init(sharedPoint: [UInt8], enc: [UInt8], _ info: Forgery.Info) {
        let kem = Array("KEM".utf8) + [0x00, 0x20]
        let hpke = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x03]
        let header = [info.suite] + info.device.id
        let infoBytes = Array("pushcrypt/1 envelope\0".utf8) + header + lp16(info.topic)

        let prk = Self.extract([], kem, "eae_prk", sharedPoint)
        let shared = Self.expand(prk, kem, "shared_secret", enc + info.device.publicKey, 32)
        let context =
            [0x00] + Self.extract([], hpke, "psk_id_hash", []) + Self.extract([], hpke, "info_hash", infoBytes)
        let secret = Self.extract(shared, hpke, "secret", [])
        key = Self.expand(secret, hpke, "key", context, 32)
        nonce = Self.expand(secret, hpke, "base_nonce", context, 12)
    }

    private static func extract(_ salt: [UInt8], _ suite: [UInt8], _ label: String, _ input: [UInt8]) -> [UInt8] {
        Primitives.hmac(salt, Array("HPKE-v1".utf8) + suite + Array(label.utf8) + input)
    }

    /// At most one block.
    private static func expand(
        _ prk: [UInt8], _ suite: [UInt8], _ label: String, _ info: [UInt8], _ length: Int
    ) -> [UInt8] {
        let input = bigEndian(UInt64(length), 2) + Array("HPKE-v1".utf8) + suite + Array(label.utf8) + info + [1]
        return Array(Primitives.hmac(prk, input)[..<length])
    }
}

private func lp16(_ text: String) -> [UInt8] { bigEndian(UInt64(text.utf8.count), 2) + Array(text.utf8) }
