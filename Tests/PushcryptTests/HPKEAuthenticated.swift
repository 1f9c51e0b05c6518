@testable import Pushcrypt

/// AuthEncap and AuthDecap (RFC 9180, section 4.1), for the vectors only: the envelope signs instead.
enum HPKEAuthenticated {
    /// AuthEncap's shared secret.
    static func encapsulate(
        to recipient: Bytes, sender: borrowing DHKEM.KeyPair, ephemeral: borrowing DHKEM.KeyPair
    ) throws(SodiumRefusal) -> Ephemeral {
        try sharedSecret(
            (ephemeral.secret.bytes, recipient), (sender.secret.bytes, recipient),
            context: ephemeral.publicKey + recipient + sender.publicKey)
    }

    /// AuthDecap's shared secret.
    static func decapsulate(
        _ enc: Bytes, recipient: borrowing DHKEM.KeyPair, sender: Bytes
    ) throws(SodiumRefusal) -> Ephemeral {
        try sharedSecret(
            (recipient.secret.bytes, enc), (recipient.secret.bytes, sender), context: enc + recipient.publicKey + sender
        )
    }

    private static func sharedSecret(
        _ first: (scalar: Bytes, point: Bytes), _ second: (scalar: Bytes, point: Bytes), context: Bytes
    ) throws(SodiumRefusal) -> Ephemeral {
        let one = try X25519.sharedSecret(scalar: first.scalar.span, publicKey: first.point.span)
        let two = try X25519.sharedSecret(scalar: second.scalar.span, publicKey: second.point.span)
        let both = one.bytes + two.bytes
        return try DHKEM.extractAndExpand(dh: both.span, context: context.span)
    }
}
