/// The key schedule and the AEAD of HPKE with HKDF-SHA256 and ChaCha20-Poly1305 (RFC 9180, sections 5.1 and 5.2).
///
/// The envelope uses base mode and a single message, with sequence number 0. The other modes and numbers are for the
/// tests with the vectors of RFC 9180.
struct HPKEContext: ~Copyable {
    /// The modes of HPKE, which differ in how the sender is authenticated.
    enum Mode: UInt8 {
        case base = 0x00
        case psk = 0x01
        case auth = 0x02
        case authPSK = 0x03
    }

    private let suite: HPKESuite
    let secret: Ephemeral
    let key: Ephemeral
    let baseNonce: Ephemeral
    /// mode || psk_id_hash || info_hash
    let keyScheduleContext: ContiguousArray<UInt8>

    /// KeySchedule for base mode.
    init(_ suite: HPKESuite, sharedSecret: borrowing Ephemeral, info: Span<UInt8>) throws(SodiumRefusal) {
        let empty = ContiguousArray<UInt8>()
        try self.init(
            suite, mode: .base, sharedSecret: sharedSecret, info: info, psk: empty.span,
            pskIDHash: suite.emptyPSKIDHash)
    }

    /// KeySchedule for any mode.
    init(
        _ suite: HPKESuite, mode: Mode, sharedSecret: borrowing Ephemeral, info: Span<UInt8>, psk: Span<UInt8>,
        pskIDHash: ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        var context = ContiguousArray<UInt8>()
        context.reserveCapacity(1 + 2 * HKDF.hashLength)
        context.append(mode.rawValue)
        context.append(contentsOf: pskIDHash)
        HKDF.labeledExtract(suite.infoHash, ikm: info).withTag { context.append(copying: $0) }
        let id = suite.id
        let secret = sharedSecret.withSpan { sharedSecret in
            HKDF.labeledExtract(salt: sharedSecret, suite: id.span, label: "secret", ikm: psk)
        }
        let keyed = secret.withSpan { HMACSHA256(key: $0) }
        let key = try suite.key(HMACSHA256(copying: keyed), info: context.span)
        let baseNonce = try suite.baseNonce(keyed, info: context.span)
        self.suite = suite
        self.secret = secret
        self.key = key
        self.baseNonce = baseNonce
        keyScheduleContext = context
    }

    /// The exporter secret, for tests; the envelope exports nothing.
    func exporterSecret() throws(SodiumRefusal) -> Ephemeral {
        try secret.withSpan { (secret) throws(SodiumRefusal) in
            try HKDF.LabeledExpand(suite: suite.id, label: "exp", length: HKDF.hashLength)(
                prk: secret, info: keyScheduleContext.span)
        }
    }

    /// Export (RFC 9180, section 5.3).
    func export(_ context: Span<UInt8>, length: Int) throws(SodiumRefusal) -> Ephemeral {
        let exporter = try exporterSecret()
        return try exporter.withSpan { (exporter) throws(SodiumRefusal) in
            try HKDF.LabeledExpand(suite: suite.id, label: "sec", length: length)(prk: exporter, info: context)
        }
    }

    /// ComputeNonce (RFC 9180, section 5.2).
    func nonce(sequence: UInt64) -> Ephemeral {
        var nonce = Ephemeral(count: ChaCha20Poly1305.nonceLength)
        nonce.withMutableBytes { nonce in
            baseNonce.withSpan { nonce.write($0, at: 0) }
            for index in 0..<8 { nonce[11 - index] ^= UInt8(truncatingIfNeeded: sequence >> (8 * UInt64(index))) }
        }
        return nonce
    }

    /// Appends the sealed message, 16 bytes longer than the plaintext.
    func seal(
        _ plaintext: Span<UInt8>, authenticating data: Span<UInt8>, sequence: UInt64 = 0,
        appendingTo output: inout ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        try key.withSpan { (key) throws(SodiumRefusal) in
            try nonce(sequence: sequence).withSpan { (nonce) throws(SodiumRefusal) in
                try ChaCha20Poly1305.seal(
                    plaintext, key: key, nonce: nonce, authenticating: data, appendingTo: &output)
            }
        }
    }

    /// Opens a sealed message; throws, and returns no part of the plaintext, unless the tag is right.
    func open(
        _ ciphertext: Span<UInt8>, authenticating data: Span<UInt8>, sequence: UInt64 = 0
    ) throws(SodiumRefusal) -> Ephemeral {
        try key.withSpan { (key) throws(SodiumRefusal) in
            try nonce(sequence: sequence).withSpan { (nonce) throws(SodiumRefusal) in
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
        emptyPSKIDHash = Self.pskIDHash(empty.span, id)
    }

    /// The suite of a device's key.
    static func of(_ suite: CipherSuite) -> HPKESuite { suite == .x25519 ? .x25519 : .xwing }

    /// LabeledExtract("", "psk_id_hash", psk_id)
    func pskIDHash(_ pskID: Span<UInt8>) -> ContiguousArray<UInt8> { Self.pskIDHash(pskID, id) }

    private static func pskIDHash(_ pskID: Span<UInt8>, _ id: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
        let empty = ContiguousArray<UInt8>()
        return HKDF.labeledExtract(salt: empty.span, suite: id.span, label: "psk_id_hash", ikm: pskID)
            .withSpan { ContiguousArray(copying: $0) }
    }
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
