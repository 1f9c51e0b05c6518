import Testing

@testable import Pushcrypt

/// Refusals of HPKE, and the inputs of its keys.
@Suite struct HPKETests {
    private static let info = Bytes("info".utf8)
    private static let data = Bytes("data".utf8)
    private static let plaintext = Bytes("plaintext".utf8)

    private static func keyPair(_ seed: UInt8) throws -> (secret: Bytes, publicKey: Bytes) {
        let pair = try DHKEM.deriveKeyPair(ikm: Bytes(repeating: seed, count: 32).span)
        return (pair.secret.bytes, pair.publicKey)
    }

    /// Encap with the ephemeral pair of a seed.
    private static func encapsulate(to recipient: Bytes, seed: UInt8) throws -> (sharedSecret: Bytes, enc: Bytes) {
        let ephemeral = try DHKEM.deriveKeyPair(ikm: Bytes(repeating: seed, count: 32).span)
        let encapsulation = try DHKEM.encapsulate(to: recipient.span, ephemeral: ephemeral)
        return (encapsulation.sharedSecret.bytes, encapsulation.enc)
    }

    private static func decapsulate(_ enc: Bytes, secret: Bytes, publicKey: Bytes) throws -> Bytes {
        try DHKEM.decapsulate(enc.span, secret: secret.span, publicKey: publicKey.span).bytes
    }

    private static func context(
        mode: HPKEKeySchedule.Mode = .base, sharedSecret: UInt8 = 1, info: Bytes = info, psk: Bytes = [],
        pskID: Bytes = []
    ) throws -> HPKEKeySchedule {
        try HPKEKeySchedule(
            .x25519, mode: mode, sharedSecret: Ephemeral(copying: Bytes(repeating: sharedSecret, count: 32).span),
            info: info, psk: psk, pskID: pskID)
    }

    @Test(arguments: smallOrderX25519Points)
    func pointOfSmallOrderIsNeitherARecipientNorAShare(_ point: Hex) throws {
        let recipient = try Self.keyPair(2)
        #expect(throws: SodiumRefusal.self) { try Self.encapsulate(to: point.bytes, seed: 1) }
        #expect(throws: SodiumRefusal.self) {
            try Self.decapsulate(point.bytes, secret: recipient.secret, publicKey: recipient.publicKey)
        }
    }

    @Test(arguments: [0, 31, 33])
    func keyOfAnotherLengthIsRefused(_ count: Int) throws {
        let recipient = try Self.keyPair(2)
        let share = try Self.keyPair(1).publicKey
        let wrong = Bytes(repeating: 9, count: count)
        #expect(throws: SodiumRefusal.self) { try Self.encapsulate(to: wrong, seed: 1) }
        #expect(throws: SodiumRefusal.self) {
            try Self.decapsulate(wrong, secret: recipient.secret, publicKey: recipient.publicKey)
        }
        #expect(throws: SodiumRefusal.self) {
            try Self.decapsulate(share, secret: wrong, publicKey: recipient.publicKey)
        }
    }

    @Test func sharedSecretBelongsToOneShareAndOneRecipient() throws {
        let (one, other) = (try Self.keyPair(2), try Self.keyPair(3))
        let (sent, enc) = try Self.encapsulate(to: one.publicKey, seed: 1)
        let otherShare = try Self.encapsulate(to: one.publicKey, seed: 4).enc
        #expect(try Self.decapsulate(enc, secret: one.secret, publicKey: one.publicKey) == sent)
        #expect(try Self.decapsulate(enc, secret: other.secret, publicKey: other.publicKey) != sent)
        #expect(try Self.decapsulate(enc, secret: one.secret, publicKey: other.publicKey) != sent)
        #expect(try Self.decapsulate(otherShare, secret: one.secret, publicKey: one.publicKey) != sent)
    }

    @Test func messageOpensOnlyAsItWasSealed() throws {
        let schedule = try Self.context()
        var sealed = Bytes()
        try schedule.result.seal(Self.plaintext.span, authenticating: Self.data.span, appendingTo: &sealed)
        func opened(_ sealed: Bytes, data: Bytes = Self.data) -> Bytes? {
            try? schedule.result.open(sealed.span, authenticating: data.span).bytes
        }
        #expect(opened(sealed) == Self.plaintext)
        for changed in sealed.withEachBitFlipped { #expect(opened(changed) == nil) }
        for count in 0..<sealed.count { #expect(opened(Bytes(sealed.prefix(count))) == nil) }
        for changed in Self.data.withEachBitFlipped { #expect(opened(sealed, data: changed) == nil) }
    }

    @Test func keysDependOnModeSecretInfoAndPSK() throws {
        let keys = try [
            Self.context().result.key.bytes,
            Self.context(mode: .psk).result.key.bytes,
            Self.context(mode: .auth).result.key.bytes,
            Self.context(mode: .authPSK).result.key.bytes,
            Self.context(sharedSecret: 2).result.key.bytes,
            Self.context(info: []).result.key.bytes,
            Self.context(mode: .psk, psk: [1]).result.key.bytes,
            Self.context(mode: .psk, pskID: [1]).result.key.bytes,
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: [(-1, false), (0, false), (1, true), (8160, true), (8161, false), (65536, false)])
    func exportHasOneTo8160Bytes(length: Int, isAllowed: Bool) throws {
        let context = try Self.context()
        let count = try? context.export(Self.data, length: length).count
        #expect(count == (isAllowed ? length : nil))
    }
}
