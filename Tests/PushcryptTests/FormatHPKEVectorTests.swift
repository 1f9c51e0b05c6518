import Testing

@testable import Pushcrypt

/// `Tests/Vectors/hpke.json`: base mode with every value in between, and what must be refused.
@Suite struct FormatHPKEVectorTests {
    struct File: Codable {
        let vectors: [Vector]
        let refusedShares: [RefusedShare]
        let refusedRecipients: [RefusedRecipient]
    }

    /// Has the field names of RFC 9180's own vectors.
    struct Vector: FormatVector {
        struct Encryption: Codable {
            let aad: Hex
            let ct: Hex
            let nonce: Hex
            let pt: Hex
        }

        struct Export: Codable {
            let context: Hex
            let length: Int
            let value: Hex

            private enum CodingKeys: String, CodingKey {
                case context = "exporter_context"
                case length = "L"
                case value = "exported_value"
            }
        }

        let name: String
        let mode: UInt8
        let kemID: Int
        let kdfID: Int
        let aeadID: Int
        let info: Hex
        let ikmR: Hex
        let ikmE: Hex
        let skRm: Hex
        let skEm: Hex
        let pkRm: Hex
        let pkEm: Hex
        let enc: Hex
        let sharedSecret: Hex
        let keyScheduleContext: Hex
        let secret: Hex
        let key: Hex
        let baseNonce: Hex
        let exporterSecret: Hex
        let encryptions: [Encryption]
        let exports: [Export]

        private enum CodingKeys: String, CodingKey {
            case name, mode
            case kemID = "kem_id"
            case kdfID = "kdf_id"
            case aeadID = "aead_id"
            case info, ikmR, ikmE, skRm, skEm, pkRm, pkEm, enc
            case sharedSecret = "shared_secret"
            case keyScheduleContext = "key_schedule_context"
            case secret, key
            case baseNonce = "base_nonce"
            case exporterSecret = "exporter_secret"
            case encryptions, exports
        }
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
    func everyValueIsThatOfTheVector(_ vector: Vector) throws {
        #expect((vector.mode, vector.kemID, vector.kdfID, vector.aeadID) == (0, 0x0020, 0x0001, 0x0003))
        let recipient = try DHKEM.deriveKeyPair(ikm: vector.ikmR.bytes.span)
        #expect(recipient.secret.bytes == vector.skRm.bytes)
        #expect(recipient.publicKey == vector.pkRm.bytes)

        let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
        #expect(ephemeral.secret.bytes == vector.skEm.bytes)
        #expect(ephemeral.publicKey == vector.pkEm.bytes)
        let encapsulation = try DHKEM.encapsulate(to: vector.pkRm.bytes.span, ephemeral: ephemeral)
        #expect(encapsulation.enc == vector.enc.bytes)
        #expect(encapsulation.sharedSecret.bytes == vector.sharedSecret.bytes)

        let received = try DHKEM.decapsulate(
            vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
        #expect(received.bytes == vector.sharedSecret.bytes)

        let context = try HPKEContext(sharedSecret: received, info: vector.info.bytes.span)
        #expect(context.keyScheduleContext == vector.keyScheduleContext.bytes)
        #expect(context.secret.bytes == vector.secret.bytes)
        #expect(context.key.bytes == vector.key.bytes)
        #expect(context.baseNonce.bytes == vector.baseNonce.bytes)
        #expect(try context.exporterSecret().bytes == vector.exporterSecret.bytes)
        for export in vector.exports {
            let value = try context.export(export.context.bytes.span, length: export.length)
            #expect(value.bytes == export.value.bytes)
        }
        for (sequence, message) in zip(UInt64(0)..., vector.encryptions) {
            #expect(context.nonce(sequence: sequence).bytes == message.nonce.bytes)
            var sealed = Bytes()
            try context.seal(
                message.pt.bytes.span, authenticating: message.aad.bytes.span, sequence: sequence, appendingTo: &sealed)
            #expect(sealed == message.ct.bytes)
            let opened = try context.open(
                message.ct.bytes.span, authenticating: message.aad.bytes.span, sequence: sequence)
            #expect(opened.bytes == message.pt.bytes)
        }
    }

    /// The ciphertext is right for a Diffie-Hellman result of zero, so only the refusal stands before the plaintext.
    @Test(.vectors("hpke.json, refusedShares"), arguments: try file().refusedShares)
    func aShareThatGivesZeroIsRefused(_ vector: RefusedShare) {
        #expect(throws: SodiumRefusal.self) {
            let secret = try DHKEM.decapsulate(
                vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
            let context = try HPKEContext(sharedSecret: secret, info: vector.info.bytes.span)
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
