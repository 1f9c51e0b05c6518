import Testing

@testable import Pushcrypt

/// Ed25519 against RFC 8032.
@Suite struct SodiumEd25519Tests {
    struct Signature: Sendable {
        let seed: Hex
        let publicKey: Hex
        let message: Hex
        let signature: Hex
    }

    /// RFC 8032, section 7.1, tests 1 to 3.
    static let signatures = [
        Signature(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b
                d25bf5f0595bbe24655141438e7a100b
                """),
        Signature(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c
                387b2eaeb4302aeeb00d291612bb0c00
                """),
        Signature(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659
                4a7c15e9716ed28dc027beceea1ec40a
                """),
    ]

    private static func isValid(_ signature: Bytes, for message: Bytes, publicKey: Bytes) -> Bool {
        Ed25519.isValid(signature.span, for: message.span, publicKey: publicKey.span)
    }

    @Test(arguments: signatures)
    func secretKeyIsSeedThenPublicKey(_ known: Signature) {
        var secretKey = Ephemeral(count: Ed25519.secretKeyLength)
        secretKey.withMutableBytes { Ed25519.expand(seed: known.seed.bytes.span, into: &$0) }
        #expect(secretKey.bytes == known.seed.bytes + known.publicKey.bytes)
    }

    @Test(arguments: signatures)
    func signatureIsThatOfTheRFC(_ known: Signature) {
        let secretKey = known.seed.bytes + known.publicKey.bytes
        let signature = Ed25519.signature(of: known.message.bytes.span, secretKey: secretKey.span)
        #expect(signature == known.signature.bytes)
    }

    @Test(arguments: signatures)
    func signatureIsValidForItsMessageAndKeyOnly(_ known: Signature) {
        let (message, key) = (known.message.bytes, known.publicKey.bytes)
        let signature = known.signature.bytes
        #expect(Self.isValid(signature, for: message, publicKey: key))
        for changed in signature.withEachBitFlipped {
            #expect(!Self.isValid(changed, for: message, publicKey: key))
        }
        for changed in message.withEachBitFlipped + [message + [0]] {
            #expect(!Self.isValid(signature, for: changed, publicKey: key))
        }
        for changed in key.withEachBitFlipped {
            #expect(!Self.isValid(signature, for: message, publicKey: changed))
        }
    }

    @Test(arguments: signatures)
    func signatureOrKeyOfAnotherLengthIsNotValid(_ known: Signature) {
        for count in [0, 31, 32, 63] {
            let cut = Bytes(known.signature.bytes.prefix(count))
            #expect(!Self.isValid(cut, for: known.message.bytes, publicKey: known.publicKey.bytes))
        }
        let longer = known.signature.bytes + [0]
        #expect(!Self.isValid(longer, for: known.message.bytes, publicKey: known.publicKey.bytes))
        let keys: [Bytes] = [[], Bytes(known.publicKey.bytes.prefix(31)), known.publicKey.bytes + [0]]
        for key in keys {
            #expect(!Self.isValid(known.signature.bytes, for: known.message.bytes, publicKey: key))
        }
    }

    /// S + L signs the same equation; RFC 8032, section 5.1.7 refuses it, or a signature would have two forms.
    @Test(arguments: signatures)
    func signatureWithALargerScalarIsNotValid(_ known: Signature) {
        let order: Hex = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"
        var forged = known.signature.bytes
        var carry = 0
        for index in 0..<32 {
            let sum = Int(forged[32 + index]) + Int(order.bytes[index]) + carry
            forged[32 + index] = UInt8(sum & 0xff)
            carry = sum >> 8
        }
        #expect(carry == 0)
        #expect(!Self.isValid(forged, for: known.message.bytes, publicKey: known.publicKey.bytes))
    }
}
