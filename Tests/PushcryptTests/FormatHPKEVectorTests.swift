import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/hpke.json`: base mode, and what must be refused.
@Suite struct FormatHPKEVectorTests {
    struct File: Codable {
        let vectors: [HPKEVector]
        let refusedShares: [RefusedShare]
        let refusedRecipients: [RefusedRecipient]
    }

    struct RefusedShare: FormatVector {
        let name: String
        let skRm: Hex
        let pkRm: Hex
        let enc: Hex
        let info: Hex
        let aad: Hex
        let ct: Hex
    }

    struct RefusedRecipient: FormatVector {
        let name: String
        let ikmE: Hex
        let pkRm: Hex
    }

    static func file() throws -> File { try FormatVectors.read("hpke.json") }

    @Test(.vectors("hpke.json, vectors"), arguments: try file().vectors)
    func everyValueIsThatOfTheVector(_ vector: HPKEVector) throws {
        #expect(vector.name != nil)
        var check = HPKEVectorCheck(vector)
        try check.run()
    }

    /// The ciphertext is right for a Diffie-Hellman result of zero, so only the refusal stands before the plaintext.
    @Test(.vectors("hpke.json, refusedShares"), arguments: try file().refusedShares)
    func aShareThatGivesZeroIsRefused(_ vector: RefusedShare) {
        #expect(throws: SodiumRefusal.self) {
            let secret = try DHKEM.decapsulate(
                vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
            let context = try HPKEContext(.x25519, sharedSecret: secret, info: vector.info.bytes.span)
            return try context.open(vector.ct.bytes.span, authenticating: vector.aad.bytes.span).bytes
        }
    }

    @Test(.vectors("hpke.json, refusedRecipients"), arguments: try file().refusedRecipients)
    func aRecipientThatGivesZeroIsRefused(_ vector: RefusedRecipient) throws {
        #expect(throws: SodiumRefusal.self) {
            let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
            return try DHKEM.encapsulate(to: vector.pkRm.bytes.span, ephemeral: ephemeral).enc
        }
        let error = #expect(throws: KeyError.self) { try DevicePublicKey(bytes: vector.pkRm.bytes.span) }
        #expect(error?.code == .weakKey)
    }
}
