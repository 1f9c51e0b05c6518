/// The key schedule and the AEAD of HPKE with HKDF-SHA256 and ChaCha20-Poly1305 (RFC 9180, sections 5.1 and 5.2).
///
/// The envelope uses base mode and one message, sequence number 0. The other modes and numbers are `package`: the
/// vectors of RFC 9180 check them.
struct HPKEContext: ~Copyable {
    /// How the sender is authenticated by HPKE itself.
    enum Mode: UInt8 {
        case base = 0x00
        case psk = 0x01
        case auth = 0x02
        case authPSK = 0x03
    }

    /// "HPKE" || KEM 0x0020 || KDF 0x0001 || AEAD 0x0003
    private static let suite: ContiguousArray<UInt8> = [0x48, 0x50, 0x4b, 0x45, 0x00, 0x20, 0x00, 0x01, 0x00, 0x03]

    /// LabeledExtract("", "psk_id_hash", ""), the same in every message of base mode.
    private static let emptyPSKIDHash = pskIDHash(ContiguousArray<UInt8>().span)

    let secret: Ephemeral
    let key: Ephemeral
    let baseNonce: Ephemeral
    /// mode || psk_id_hash || info_hash
    let keyScheduleContext: ContiguousArray<UInt8>

    /// KeySchedule for base mode.
    init(sharedSecret: borrowing Ephemeral, info: Span<UInt8>) throws(SodiumRefusal) {
        let empty = ContiguousArray<UInt8>()
        try self.init(
            mode: .base, sharedSecret: sharedSecret, info: info, psk: empty.span, pskIDHash: Self.emptyPSKIDHash)
    }

    /// KeySchedule for any mode.
    init(
        mode: Mode, sharedSecret: borrowing Ephemeral, info: Span<UInt8>, psk: Span<UInt8>,
        pskIDHash: ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        let empty = ContiguousArray<UInt8>()
        var context: ContiguousArray<UInt8> = [mode.rawValue]
        context.append(contentsOf: pskIDHash)
        HKDF.labeledExtract(salt: empty.span, suite: Self.suite.span, label: "info_hash", ikm: info)
            .withSpan { context.append(copying: $0) }
        let secret = sharedSecret.withSpan { sharedSecret in
            HKDF.labeledExtract(salt: sharedSecret, suite: Self.suite.span, label: "secret", ikm: psk)
        }
        let key = try Self.expand(secret, "key", context, ChaCha20Poly1305.keyLength)
        let baseNonce = try Self.expand(secret, "base_nonce", context, ChaCha20Poly1305.nonceLength)
        self.secret = secret
        self.key = key
        self.baseNonce = baseNonce
        keyScheduleContext = context
    }

    /// LabeledExtract("", "psk_id_hash", psk_id)
    static func pskIDHash(_ pskID: Span<UInt8>) -> ContiguousArray<UInt8> {
        let empty = ContiguousArray<UInt8>()
        return HKDF.labeledExtract(salt: empty.span, suite: suite.span, label: "psk_id_hash", ikm: pskID)
            .withSpan { ContiguousArray(copying: $0) }
    }

    private static func expand(
        _ secret: borrowing Ephemeral, _ label: StaticString, _ info: ContiguousArray<UInt8>, _ length: Int
    ) throws(SodiumRefusal) -> Ephemeral {
        try secret.withSpan { (secret) throws(SodiumRefusal) in
            try HKDF.labeledExpand(prk: secret, suite: suite.span, label: label, info: info.span, length: length)
        }
    }

    /// The exporter secret; the envelope exports nothing, the vectors check it.
    func exporterSecret() throws(SodiumRefusal) -> Ephemeral {
        try Self.expand(secret, "exp", keyScheduleContext, HKDF.hashLength)
    }

    /// Export (RFC 9180, section 5.3).
    func export(_ context: Span<UInt8>, length: Int) throws(SodiumRefusal) -> Ephemeral {
        let exporter = try exporterSecret()
        return try exporter.withSpan { (exporter) throws(SodiumRefusal) in
            try HKDF.labeledExpand(prk: exporter, suite: Self.suite.span, label: "sec", info: context, length: length)
        }
    }

    /// ComputeNonce (RFC 9180, section 5.2).
    func nonce(sequence: UInt64) -> Ephemeral {
        var nonce = Ephemeral(count: ChaCha20Poly1305.nonceLength)
        nonce.withMutableSpan { nonce in
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

    /// Opens a sealed message; refused, with nothing of the plaintext, unless the tag is right.
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
