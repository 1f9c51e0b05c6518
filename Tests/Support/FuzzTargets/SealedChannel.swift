@testable import Pushcrypt

/// Encrypts inner plaintexts of the harness's own making to a known device, under one encapsulation: a receiver cannot tell, and one
/// serves all inputs.
final class SealedChannel {
    /// The outside parts that the signature covers.
    let header: Bytes
    let enc: Bytes

    private let recipient: DevicePublicKey
    private let context: HPKEContext

    init(to recipient: DevicePublicKey) {
        self.recipient = recipient
        var header: Bytes = [recipient.suite.rawValue]
        header.append(bigEndian: recipient.id.value)
        let info = envelopeInfo(header: header.span, topic: KnownKeys.topic)
        let ikm = Bytes(repeating: 0x33, count: 32)
        do throws(SodiumRefusal) {
            let encapsulation = try KEM.encapsulate(to: recipient, ikm: ikm.span)
            context = try HPKEContext(.of(recipient.suite), sharedSecret: encapsulation.sharedSecret, info: info.span)
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
        return Envelope(sealed: bytes, recipient.suite)
    }

    /// The text signed for this channel, or for another recipient or topic.
    func toSign(
        _ inner: Bytes, by keys: SignedBy, recipient: DevicePublicKey? = nil, topic: Topic = KnownKeys.topic
    ) -> Bytes {
        let (header, enc) = (header, enc)
        return signedMessage(
            header: header.span, enc: enc.span, self.recipient.suite,
            recipient: (recipient ?? self.recipient).transcript, by: keys, topic: topic,
            contentHash: contentHash(of: inner.span))
    }
}
