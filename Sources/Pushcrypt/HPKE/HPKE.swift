/// The key schedule of HPKE's base mode and its AEAD, with HKDF-SHA256 and ChaCha20-Poly1305 (RFC 9180, sections 5.1 and 5.2).
///
/// A context is for the one message of an envelope, so the sequence number is 0.
struct HPKEContext: ~Copyable {
    let key: Ephemeral
    let baseNonce: Ephemeral

    /// KeySchedule for base mode.
    init(_ suite: HPKESuite, sharedSecret: borrowing Ephemeral, info: Span<UInt8>) throws(SodiumRefusal) {
        var context = ContiguousArray<UInt8>()
        context.reserveCapacity(1 + 2 * HKDF.hashLength)
        context.append(0x00)  // mode_base
        context.append(contentsOf: suite.emptyPSKIDHash)
        HKDF.labeledExtract(suite.infoHash, ikm: info).withTag { context.append(copying: $0) }
        let (id, psk) = (suite.id, ContiguousArray<UInt8>())
        let secret = sharedSecret.withSpan { sharedSecret in
            HKDF.labeledExtract(salt: sharedSecret, suite: id.span, label: "secret", ikm: psk.span)
        }
        try self.init(suite, secret: secret, keyScheduleContext: context.span)
    }

    /// The end of KeySchedule, the same in every mode.
    init(_ suite: HPKESuite, secret: borrowing Ephemeral, keyScheduleContext: Span<UInt8>) throws(SodiumRefusal) {
        let keyed = secret.withSpan { HMACSHA256(key: $0) }
        let key = try suite.key(HMACSHA256(copying: keyed), info: keyScheduleContext)
        let baseNonce = try suite.baseNonce(keyed, info: keyScheduleContext)
        self.key = key
        self.baseNonce = baseNonce
    }

    /// Appends the sealed message, 16 bytes longer than the plaintext.
    func seal(
        _ plaintext: Span<UInt8>, authenticating data: Span<UInt8>, appendingTo output: inout ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        try key.withSpan { (key) throws(SodiumRefusal) in
            try baseNonce.withSpan { (nonce) throws(SodiumRefusal) in
                try ChaCha20Poly1305.seal(
                    plaintext, key: key, nonce: nonce, authenticating: data, appendingTo: &output)
            }
        }
    }

    /// Opens a sealed message; throws, and returns no part of the plaintext, unless the tag is right.
    func open(_ ciphertext: Span<UInt8>, authenticating data: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
        try key.withSpan { (key) throws(SodiumRefusal) in
            try baseNonce.withSpan { (nonce) throws(SodiumRefusal) in
                try ChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, authenticating: data)
            }
        }
    }
}

/// One KEM with HKDF-SHA256 and ChaCha20-Poly1305: the suite's id, and what each message would otherwise compute from it
/// again.
final class HPKESuite: Sendable {
    /// DHKEM(X25519, HKDF-SHA256) (RFC 9180, section 7.1).
    static let x25519 = HPKESuite(kem: 0x0020)
    /// X-Wing (draft-ietf-hpke-pq, MLKEM768-X25519).
    static let xwing = HPKESuite(kem: 0x647a)

    /// "HPKE" || KEM || KDF 0x0001 || AEAD 0x0003
    let id: ContiguousArray<UInt8>
    let infoHash: HMACSHA256.Start
    let key: HKDF.LabeledExpand
    let baseNonce: HKDF.LabeledExpand
    /// LabeledExtract("", "psk_id_hash", ""), the same for every message in base mode.
    let emptyPSKIDHash: ContiguousArray<UInt8>

    private init(kem: UInt16) {
        var id = ContiguousArray<UInt8>()
        id.append("HPKE")
        for number in [kem, 0x0001, 0x0003] { id.append(bigEndian: number) }
        self.id = id
        infoHash = HKDF.labeledExtractStart(suite: id.span, label: "info_hash")
        key = HKDF.LabeledExpand(suite: id, label: "key", length: ChaCha20Poly1305.keyLength)
        baseNonce = HKDF.LabeledExpand(suite: id, label: "base_nonce", length: ChaCha20Poly1305.nonceLength)
        let empty = ContiguousArray<UInt8>()
        emptyPSKIDHash = HKDF.labeledExtract(salt: empty.span, suite: id.span, label: "psk_id_hash", ikm: empty.span)
            .withSpan { ContiguousArray(copying: $0) }
    }

    /// The suite of a device's key.
    static func of(_ suite: CipherSuite) -> HPKESuite { suite == .x25519 ? .x25519 : .xwing }
}

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

    /// A key pair for one message.
    struct KeyPair: ~Copyable {
        let secret: Ephemeral
        let publicKey: ContiguousArray<UInt8>
    }

    /// DeriveKeyPair (RFC 9180, section 7.1.3).
    static func deriveKeyPair(ikm: Span<UInt8>) throws(SodiumRefusal) -> KeyPair {
        let empty = ContiguousArray<UInt8>()
        let secret = try scalar(HKDF.labeledExtract(dkpPRK, ikm: ikm).finishAsKey(), info: empty.span)
        let publicKey = try secret.withSpan { (secret) throws(SodiumRefusal) in try X25519.publicKey(of: secret) }
        return KeyPair(secret: secret, publicKey: publicKey)
    }

    /// Encap with a given ephemeral key pair; throws if the Diffie-Hellman result is all zero.
    static func encapsulate(
        to recipient: Span<UInt8>, ephemeral: consuming KeyPair
    ) throws(SodiumRefusal) -> Encapsulation {
        let dh = try ephemeral.secret.withSpan { (secret) throws(SodiumRefusal) in
            try X25519.sharedSecret(scalar: secret, publicKey: recipient)
        }
        let enc = ephemeral.publicKey
        let sharedSecret = try extractAndExpand(dh: dh, context: enc.span, recipient)
        return Encapsulation(sharedSecret: sharedSecret, enc: enc)
    }

    /// Decap; throws if the Diffie-Hellman result is all zero.
    static func decapsulate(
        _ enc: Span<UInt8>, secret: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        let dh = try X25519.sharedSecret(scalar: secret, publicKey: enc)
        return try extractAndExpand(dh: dh, context: enc, publicKey)
    }

    private static func extractAndExpand(
        dh: borrowing Ephemeral, context enc: Span<UInt8>, _ recipient: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        var context = ContiguousArray<UInt8>()
        context.reserveCapacity(encLength + X25519.keyLength)
        context.append(copying: enc)
        context.append(copying: recipient)
        return try dh.withSpan { (dh) throws(SodiumRefusal) in try extractAndExpand(dh: dh, context: context.span) }
    }

    /// ExtractAndExpand (RFC 9180, section 4.1); the tests of the authenticated modes use it too.
    static func extractAndExpand(dh: Span<UInt8>, context: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
        try sharedSecret(HKDF.labeledExtract(eaePRK, ikm: dh).finishAsKey(), info: context)
    }
}
