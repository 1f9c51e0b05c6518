import FuzzHarness

@testable import Pushcrypt

/// Encrypts inner plaintexts of the harness's own making to the known device, under one ephemeral key: a receiver cannot tell, and
/// one multiplication serves all inputs.
final class SealedChannel {
    /// The outside parts that the signature covers.
    let header: Bytes
    let enc: Bytes

    private let context: HPKEContext

    init() {
        let recipient = KnownKeys.device.publicKey
        var header: Bytes = [CipherSuite.x25519.rawValue]
        header.append(bigEndian: recipient.id.value)
        let info = envelopeInfo(header: header.span, topic: KnownKeys.topic)
        let ikm = Bytes(repeating: 0x33, count: 32)
        do throws(SodiumRefusal) {
            let encapsulation = try DHKEM.encapsulate(
                to: recipient.bytes.span, ephemeral: try DHKEM.deriveKeyPair(ikm: ikm.span))
            context = try HPKEContext(.x25519, sharedSecret: encapsulation.sharedSecret, info: info.span)
            enc = encapsulation.enc
        } catch {
            fail("a known key encapsulates")
        }
        self.header = header
    }

    /// The envelope around an inner plaintext, whatever it is.
    func envelope(of inner: Bytes) -> Envelope {
        var bytes = header + enc
        let empty = Bytes()
        KnownKeys.known { () throws(SodiumRefusal) in
            try context.seal(inner.span, authenticating: empty.span, appendingTo: &bytes)
        }
        return Envelope(sealed: bytes, .x25519)
    }

    /// A sender's signature for this channel, or for another recipient or topic.
    func toSign(
        _ inner: Bytes, by sender: SenderPublicKey, recipient: DevicePublicKey = KnownKeys.device.publicKey,
        topic: Topic = KnownKeys.topic
    ) -> Bytes {
        let (header, enc) = (header, enc)
        return signedMessage(
            header: header.span, enc: enc.span, .x25519, recipient: recipient.transcript, sender: sender, topic: topic,
            contentHash: contentHash(of: inner.span))
    }
}
