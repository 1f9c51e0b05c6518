/// The KEM of a device's key. (`Docs/Format.md`, Envelope)
enum KEM {
    /// Encapsulates to a device's key with the randomness `ikm`, 32 bytes that are used once.
    static func encapsulate(
        to recipient: DevicePublicKey, ikm: Span<UInt8>
    ) throws(SodiumRefusal) -> Encapsulation {
        let key = recipient.bytes
        switch recipient.suite {
        case .x25519:
            return try DHKEM.encapsulate(to: key.span, ephemeral: DHKEM.deriveKeyPair(ikm: ikm))
        case .xwing:
            let randomness = try HKDF.expand(prk: ikm, length: XWing.randomnessLength) {
                $0.update("pushcrypt/1 xwing seed\0")
            }
            return try randomness.withSpan { (randomness) throws(SodiumRefusal) in
                try XWing.encapsulate(to: key.span, randomness: randomness)
            }
        }
    }

    /// Returns the shared secret of `enc`; throws for one that no sealer makes.
    static func decapsulate(_ enc: Span<UInt8>, with key: DeviceKey) throws(SodiumRefusal) -> Ephemeral {
        let publicKey = key.publicKey.bytes
        let suite = key.publicKey.suite
        return try key.withScalar { (secret) throws(SodiumRefusal) in
            switch suite {
            case .x25519: try DHKEM.decapsulate(enc, secret: secret, publicKey: publicKey.span)
            case .xwing: try XWing.decapsulate(enc, seed: secret)
            }
        }
    }
}
