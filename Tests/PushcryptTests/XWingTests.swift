import Foundation
import Testing
import PostQuantum

@testable import Pushcrypt

@Suite(.postQuantum) struct XWingTests {
    private static func seed(_ byte: UInt8) -> Bytes { Bytes(repeating: byte, count: 32) }

    @Test func bothSidesHaveOneSecret() throws {
        let key = try XWing.publicKey(of: Self.seed(1).span)
        #expect(key.count == 1216)
        let sent = try XWing.encapsulate(to: key.span, randomness: Bytes(repeating: 7, count: 64).span)
        #expect(sent.enc.count == 1120)
        let received = try XWing.decapsulate(sent.enc.span, seed: Self.seed(1).span).bytes
        #expect(sent.sharedSecret.bytes == received)
    }

    /// ML-KEM rejects implicitly: a changed share gives another secret, and the tag notices.
    @Test(arguments: [0, 1087, 1088, 1118])
    func aChangedShareGivesAnotherSecret(_ offset: Int) throws {
        let key = try XWing.publicKey(of: Self.seed(1).span)
        let sent = try XWing.encapsulate(to: key.span, randomness: Bytes(repeating: 7, count: 64).span)
        var enc = sent.enc
        enc[offset] ^= 1
        let received = try XWing.decapsulate(enc.span, seed: Self.seed(1).span).bytes
        #expect(sent.sharedSecret.bytes != received)
    }

    /// The draft's text does not refuse these; libsodium does. [O-4.2]
    @Test(arguments: smallOrderX25519Points)
    func aShareOfSmallOrderIsRefused(_ point: Hex) throws {
        let key = try XWing.publicKey(of: Self.seed(1).span)
        let sent = try XWing.encapsulate(to: key.span, randomness: Bytes(repeating: 7, count: 64).span)
        for top in [UInt8(0), 0x80] {
            var enc = Bytes(sent.enc.prefix(1088)) + point.bytes
            enc[1119] = enc[1119] & 0x7f | top
            #expect(throws: SodiumRefusal.self) { try XWing.decapsulate(enc.span, seed: Self.seed(1).span).bytes }
        }
    }

    /// No `DevicePublicKey` is one.
    @Test(arguments: smallOrderX25519Points)
    func aKeyOfSmallOrderIsRefused(_ point: Hex) throws {
        let key = Bytes(try XWing.publicKey(of: Self.seed(1).span).prefix(1184)) + point.bytes
        #expect(throws: SodiumRefusal.self) {
            try XWing.encapsulate(to: key.span, randomness: Bytes(repeating: 7, count: 64).span).enc
        }
    }

    @Test(arguments: [0, 31, 33, 64])
    func aLengthThatIsNotXWingsIsRefused(_ count: Int) throws {
        let other = Bytes(repeating: 1, count: count)
        let key = try XWing.publicKey(of: Self.seed(1).span)
        let sent = try XWing.encapsulate(to: key.span, randomness: Bytes(repeating: 7, count: 64).span)
        let enc = sent.enc
        #expect(throws: SodiumRefusal.self) { try XWing.publicKey(of: other.span) }
        #expect(throws: SodiumRefusal.self) { try XWing.encapsulate(to: other.span, randomness: Self.seed(1).span).enc }
        #expect(throws: SodiumRefusal.self) { try XWing.encapsulate(to: key.span, randomness: Self.seed(1).span).enc }
        #expect(throws: SodiumRefusal.self) { try XWing.decapsulate(enc.span, seed: other.span).bytes }
    }

    // MARK: The draft's vectors

    private struct Vector: Decodable {
        struct Encryption: Decodable {
            let aad: Hex
            let ct: Hex
            let pt: Hex
        }
        let kem_id: Int
        let info, ikmE, skRm, pkRm, enc, shared_secret, key, base_nonce: Hex
        let encryptions: [Encryption]
    }

    /// Those of draft-ietf-hpke-pq-04 for this suite: KEM 0x647A, KDF 0x0001, AEAD 0x0003.
    @Test func theVectorsOfTheDraftCompute() throws {
        guard let file = try SharedVectors.fileIfPresent("hpke-xwing-sha256-chacha20poly1305.json") else { return }
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(file))
        #expect(!vectors.isEmpty)
        for vector in vectors {
            #expect(vector.kem_id == 0x647a)
            let device = try DeviceKey(scalar: vector.skRm.bytes.span, .xwing)
            #expect(device.publicKey.bytes == vector.pkRm.bytes)
            let sent = try XWing.encapsulate(to: vector.pkRm.bytes.span, randomness: vector.ikmE.bytes.span)
            #expect(sent.enc == vector.enc.bytes)
            #expect(sent.sharedSecret.bytes == vector.shared_secret.bytes)
            let secret = try KEM.decapsulate(vector.enc.bytes.span, with: device)
            let context = try HPKEContext(.xwing, sharedSecret: secret, info: vector.info.bytes.span)
            #expect(context.key.bytes == vector.key.bytes)
            #expect(context.baseNonce.bytes == vector.base_nonce.bytes)
            let message = try #require(vector.encryptions.first)
            let (ciphertext, data) = (message.ct.bytes, message.aad.bytes)
            let opened = try context.open(ciphertext.span, authenticating: data.span).bytes
            #expect(opened == message.pt.bytes)
        }
    }
}
