import Testing

@testable import Pushcrypt

/// X25519 against RFC 7748, and what it refuses.
@Suite struct SodiumX25519Tests {
    struct Exchange: Sendable {
        let scalar: Hex
        let point: Hex
        let result: Hex
    }

    @Test(arguments: [
        // RFC 7748, section 5.2
        Exchange(
            scalar: "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            point: "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            result: "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"),
        Exchange(
            scalar: "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            point: "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            result: "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"),
        // RFC 7748, section 6.1, from Alice's side and from Bob's
        Exchange(
            scalar: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
            point: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
            result: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"),
        Exchange(
            scalar: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
            point: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
            result: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"),
    ])
    func sharedSecretIsThatOfTheRFC(_ exchange: Exchange) throws {
        let secret = try X25519.sharedSecret(scalar: exchange.scalar.bytes.span, publicKey: exchange.point.bytes.span)
        #expect(secret.bytes == exchange.result.bytes)
    }

    @Test func thousandIterationsEndWhereTheRFCSays() throws {
        let once: Hex = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"
        let thousand: Hex = "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"
        var scalar: Bytes = [9] + Bytes(repeating: 0, count: 31)
        var point = scalar
        for round in 1...1000 {
            let result = try X25519.sharedSecret(scalar: scalar.span, publicKey: point.span).bytes
            point = scalar
            scalar = result
            if round == 1 { #expect(scalar == once.bytes) }
        }
        #expect(scalar == thousand.bytes)
    }

    @Test(
        arguments: [
            (
                "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
            ),
            (
                "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
            ),
        ] as [(Hex, Hex)])
    func publicKeyIsThatOfTheRFC(scalar: Hex, publicKey: Hex) throws {
        #expect(try X25519.publicKey(of: scalar.bytes.span) == publicKey.bytes)
    }

    @Test(arguments: smallOrderX25519Points)
    func pointOfSmallOrderGivesNoSecretAndIsNoPublicKey(_ point: Hex) {
        let scalar = Bytes(repeating: 0x42, count: 32)
        #expect(throws: SodiumRefusal.self) {
            try X25519.sharedSecret(scalar: scalar.span, publicKey: point.bytes.span).bytes
        }
        let error = #expect(throws: KeyError.self) { try DevicePublicKey(bytes: point.bytes.span) }
        #expect(error?.code == .weakKey)
    }

    @Test(arguments: [0, 31, 33, 64])
    func wrongLengthIsRefused(_ count: Int) {
        let wrong = Bytes(repeating: 9, count: count)
        let right = Bytes(repeating: 9, count: 32)
        #expect(throws: SodiumRefusal.self) { try X25519.publicKey(of: wrong.span) }
        #expect(throws: SodiumRefusal.self) {
            try X25519.sharedSecret(scalar: wrong.span, publicKey: right.span).bytes
        }
        #expect(throws: SodiumRefusal.self) {
            try X25519.sharedSecret(scalar: right.span, publicKey: wrong.span).bytes
        }
        let error = #expect(throws: KeyError.self) { try DevicePublicKey(bytes: wrong.span) }
        #expect(error?.code == .malformedKey)
    }
}
