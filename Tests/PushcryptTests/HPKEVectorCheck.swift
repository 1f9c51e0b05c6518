import Testing

@testable import Pushcrypt

/// Compares the values of a vector of base mode with those that the library computes, on the sender's side and on the
/// recipient's. The library exports no secrets, and seals one message.
struct HPKEVectorCheck {
    private let vector: HPKEVector
    /// How many values were compared.
    private(set) var count = 0

    init(_ vector: HPKEVector) { self.vector = vector }

    mutating func run() throws {
        #expect((vector.mode, vector.kemID, vector.kdfID, vector.aeadID) == (0, 0x0020, 0x0001, 0x0003))
        let recipient = try DHKEM.deriveKeyPair(ikm: vector.ikmR.bytes.span)
        let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
        compare(recipient.secret.bytes, vector.skRm, "skRm")
        compare(recipient.publicKey, vector.pkRm, "pkRm")
        compare(ephemeral.secret.bytes, vector.skEm, "skEm")
        compare(ephemeral.publicKey, vector.pkEm, "pkEm")
        let encapsulation = try DHKEM.encapsulate(to: vector.pkRm.bytes.span, ephemeral: ephemeral)
        compare(encapsulation.enc, vector.enc, "enc")
        compare(encapsulation.sharedSecret.bytes, vector.sharedSecret, "shared_secret, sender")
        let received = try DHKEM.decapsulate(
            vector.enc.bytes.span, secret: vector.skRm.bytes.span, publicKey: vector.pkRm.bytes.span)
        compare(received.bytes, vector.sharedSecret, "shared_secret, recipient")

        let context = try HPKEContext(.x25519, sharedSecret: received, info: vector.info.bytes.span)
        compare(context.key.bytes, vector.key, "key")
        compare(context.baseNonce.bytes, vector.baseNonce, "base_nonce")
        let message = try #require(vector.encryptions.first)
        let (plaintext, data, ciphertext) = (message.pt.bytes, message.aad.bytes, message.ct.bytes)
        var sealed = Bytes()
        try context.seal(plaintext.span, authenticating: data.span, appendingTo: &sealed)
        compare(sealed, message.ct, "ct")
        compare(try context.open(ciphertext.span, authenticating: data.span).bytes, message.pt, "pt")
    }

    private mutating func compare(
        _ value: Bytes, _ expected: Hex, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        count += 1
        #expect(value == expected.bytes, "\(name), \(vector.testDescription)", sourceLocation: sourceLocation)
    }
}
