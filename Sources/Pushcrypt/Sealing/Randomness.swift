/// The random bytes for one message: fresh, except in tests.
struct Randomness: ~Copyable {
    let messageID: Ephemeral
    let ephemeral: Ephemeral

    /// Creates fresh random bytes.
    init() {
        messageID = Ephemeral(randomCount: 32)
        ephemeral = Ephemeral(randomCount: 32)
    }

    /// Copies given bytes, for tests with known answers.
    init(messageID: Span<UInt8>, ephemeral: Span<UInt8>) {
        self.messageID = Ephemeral(copying: messageID)
        self.ephemeral = Ephemeral(copying: ephemeral)
    }
}

// Every value depends on fresh random bytes, on a secret key and on its purpose, so that two different messages never have the
// same ephemeral key, even on a cloned machine or with a broken random source (RFC 8937). (`Docs/Format.md`, Randomness)

extension Sealer {
    /// Returns the id of a message without a name.
    func hedgedID(of body: Span<UInt8>, at sentAt: Timestamp, _ random: borrowing Randomness) -> MessageID {
        let hmac = signer.hedged()
        hmac.update("pushcrypt/1 message id\0")
        random.messageID.withSpan { hmac.update($0) }
        hmac.update(bigEndian: sentAt.milliseconds)
        hmac.update(SHA256.digest(body).span)
        return hmac.withTag { MessageID(prefixOf: $0) }
    }

    /// Makes the share and the secret of one envelope, which begins with `header`.
    func encapsulate(
        to device: DevicePublicKey, _ header: Span<UInt8>, contentHash: ContiguousArray<UInt8>,
        _ random: borrowing Randomness
    ) throws(SodiumRefusal) -> Encapsulation {
        let hmac = signer.hedged()
        hmac.update("pushcrypt/1 ephemeral\0")
        random.ephemeral.withSpan { hmac.update($0) }
        hmac.update(header)
        let recipient = device.transcript
        hmac.update(recipient.span)
        hmac.update(bigEndian: signer.epoch)
        hmac.update(topic.lengthPrefixed.span)
        // Never the signature: it covers enc, which depends on this value.
        hmac.update(contentHash.span)
        return try hmac.withTag { (ikm) throws(SodiumRefusal) in try KEM.encapsulate(to: device, ikm: ikm) }
    }
}
