/// DHKEM(X25519, HKDF-SHA256), KEM 0x0020 (RFC 9180, section 4.1).
enum DHKEM {
    static let encLength = 32
    static let secretLength = 32

    /// "KEM" || I2OSP(0x0020, 2)
    private static let suite: ContiguousArray<UInt8> = [0x4b, 0x45, 0x4d, 0x00, 0x20]

    private static let dkpPRK = HKDF.labeledExtractStart(suite: suite.span, label: "dkp_prk")
    private static let scalar = HKDF.LabeledExpand(suite: suite, label: "sk", length: X25519.keyLength)
    private static let eaePRK = HKDF.labeledExtractStart(suite: suite.span, label: "eae_prk")
    private static let sharedSecret = HKDF.LabeledExpand(suite: suite, label: "shared_secret", length: secretLength)

    /// A key pair that lives for one message.
    struct KeyPair: ~Copyable {
        let secret: Ephemeral
        let publicKey: ContiguousArray<UInt8>
    }

    /// A shared secret and the share that carries it.
    struct Encapsulation: ~Copyable {
        let sharedSecret: Ephemeral
        let enc: ContiguousArray<UInt8>
    }

    /// DeriveKeyPair (RFC 9180, section 7.1.3).
    static func deriveKeyPair(ikm: Span<UInt8>) throws(SodiumRefusal) -> KeyPair {
        let empty = ContiguousArray<UInt8>()
        let prk = HKDF.labeledExtract(dkpPRK, ikm: ikm)
        let secret = try prk.withSpan { (prk) throws(SodiumRefusal) in try scalar(prk: prk, info: empty.span) }
        let publicKey = try secret.withSpan { (secret) throws(SodiumRefusal) in try X25519.publicKey(of: secret) }
        return KeyPair(secret: secret, publicKey: publicKey)
    }

    /// Encap with a given ephemeral pair; refused when the Diffie-Hellman result is all zero.
    static func encapsulate(
        to recipient: Span<UInt8>, ephemeral: consuming KeyPair
    ) throws(SodiumRefusal) -> Encapsulation {
        let dh = try ephemeral.secret.withSpan { (secret) throws(SodiumRefusal) in
            try X25519.sharedSecret(scalar: secret, publicKey: recipient)
        }
        let enc = ephemeral.publicKey
        let sharedSecret = try extractAndExpand(dh: dh, context: enc, recipient)
        return Encapsulation(sharedSecret: sharedSecret, enc: enc)
    }

    /// Decap; refused when the Diffie-Hellman result is all zero.
    static func decapsulate(
        _ enc: Span<UInt8>, secret: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        let dh = try X25519.sharedSecret(scalar: secret, publicKey: enc)
        return try extractAndExpand(dh: dh, context: ContiguousArray(copying: enc), publicKey)
    }

    private static func extractAndExpand(
        dh: borrowing Ephemeral, context enc: ContiguousArray<UInt8>, _ recipient: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        var context = enc
        context.append(copying: recipient)
        return try dh.withSpan { (dh) throws(SodiumRefusal) in try extractAndExpand(dh: dh, context: context.span) }
    }

    /// ExtractAndExpand (RFC 9180, section 4.1), also what the authenticated modes of the test vectors need.
    static func extractAndExpand(dh: Span<UInt8>, context: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
        let prk = HKDF.labeledExtract(eaePRK, ikm: dh)
        return try prk.withSpan { (prk) throws(SodiumRefusal) in try sharedSecret(prk: prk, info: context) }
    }
}
