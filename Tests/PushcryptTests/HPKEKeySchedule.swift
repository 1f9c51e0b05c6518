@testable import Pushcrypt

/// The key schedule in any mode, the exporter and any sequence number (RFC 9180, sections 5.1 to 5.3), for the vectors: the
/// envelope uses base mode and one message.
struct HPKEKeySchedule: ~Copyable {
    enum Mode: UInt8 {
        case base = 0x00
        case psk = 0x01
        case auth = 0x02
        case authPSK = 0x03
    }

    private let suite: HPKESuite
    let secret: Ephemeral
    /// mode || psk_id_hash || info_hash
    let context: Bytes
    let result: HPKEContext

    init(
        _ suite: HPKESuite, mode: Mode, sharedSecret: borrowing Ephemeral, info: Bytes, psk: Bytes = [],
        pskID: Bytes = []
    ) throws(SodiumRefusal) {
        let (id, salt) = (suite.id, Bytes())
        func hash(_ label: StaticString, _ input: Bytes) -> Bytes {
            HKDF.labeledExtract(salt: salt.span, suite: id.span, label: label, ikm: input.span).bytes
        }
        let context = Bytes([mode.rawValue]) + hash("psk_id_hash", pskID) + hash("info_hash", info)
        let secret = sharedSecret.withSpan { sharedSecret in
            HKDF.labeledExtract(salt: sharedSecret, suite: id.span, label: "secret", ikm: psk.span)
        }
        let result = try HPKEContext(suite, secret: secret, keyScheduleContext: context.span)
        self.result = result
        self.suite = suite
        self.secret = secret
        self.context = context
    }

    func exporterSecret() throws(SodiumRefusal) -> Bytes {
        let secret = secret.bytes
        return try HKDF.LabeledExpand(suite: suite.id, label: "exp", length: 32)(prk: secret.span, info: context.span)
            .bytes
    }

    func export(_ context: Bytes, length: Int) throws(SodiumRefusal) -> Bytes {
        let exporter = try exporterSecret()
        return try HKDF.LabeledExpand(suite: suite.id, label: "sec", length: length)(
            prk: exporter.span, info: context.span
        ).bytes
    }

    func nonce(sequence: UInt64) -> Bytes {
        var nonce = result.baseNonce.bytes
        for index in 0..<8 { nonce[11 - index] ^= UInt8(truncatingIfNeeded: sequence >> (8 * UInt64(index))) }
        return nonce
    }

    /// Seals with the context itself at 0, else with its key.
    func seal(_ plaintext: Bytes, authenticating data: Bytes, sequence: UInt64) throws(SodiumRefusal) -> Bytes {
        var sealed = Bytes()
        if sequence == 0 {
            try result.seal(plaintext.span, authenticating: data.span, appendingTo: &sealed)
        } else {
            let (key, nonce) = (result.key.bytes, nonce(sequence: sequence))
            try ChaCha20Poly1305.seal(
                plaintext.span, key: key.span, nonce: nonce.span, authenticating: data.span, appendingTo: &sealed)
        }
        return sealed
    }

    func open(_ ciphertext: Bytes, authenticating data: Bytes, sequence: UInt64) throws(SodiumRefusal) -> Bytes {
        if sequence == 0 { return try result.open(ciphertext.span, authenticating: data.span).bytes }
        let (key, nonce) = (result.key.bytes, nonce(sequence: sequence))
        return try ChaCha20Poly1305.open(
            ciphertext.span, key: key.span, nonce: nonce.span, authenticating: data.span
        ).bytes
    }
}
