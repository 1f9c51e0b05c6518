import Testing

@testable import Pushcrypt

/// Which 32 bytes are a provider's public key: canonical, and not of small order.
///
/// The points were made with Python integers: B is the base point of RFC 8032, T a point of order 8.
@Suite struct SodiumEd25519KeyTests {
    private static func refusal(of key: Bytes) -> KeyError.Code? {
        do throws(KeyError) {
            _ = try ProviderPublicKey(bytes: key.span)
            return nil
        } catch {
            return error.code
        }
    }

    private static func isValid(_ key: Bytes) -> Bool { Ed25519.isValidPublicKey(key.span) }

    /// B, 2B, 8B, (L - 1)B, (L + 1)/2 B, both points with y = 26, and the keys of RFC 8032, tests 1 to 3.
    @Test(
        arguments: [
            "5866666666666666666666666666666666666666666666666666666666666666",
            "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
            "b4b937fca95b2f1e93e41e62fc3c78818ff38a66096fad6e7973e5c90006d321",
            "58666666666666666666666666666666666666666666666666666666666666e6",
            "ac1999070321b2c6309cc8e31aa89a8b3baa75b5f8febf47855555a3e744bcf0",
            "1a00000000000000000000000000000000000000000000000000000000000000",
            "1a00000000000000000000000000000000000000000000000000000000000080",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        ] as [Hex])
    func pointOfPrimeOrderIsTaken(_ key: Hex) {
        #expect(Self.isValid(key.bytes))
        #expect(Self.refusal(of: key.bytes) == nil)
    }

    /// The points of order 1, 2, 4, 4 and 8 (four), each in its canonical encoding.
    @Test(
        arguments: [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ] as [Hex])
    func pointOfSmallOrderIsRefused(_ key: Hex) {
        #expect(!Self.isValid(key.bytes))
        #expect(Self.refusal(of: key.bytes) == .weakKey)
    }

    /// kB + iT for k = 1, 2, 1234567 and i = 1…7, of order 2L (i = 4), 4L or 8L.
    ///
    /// Their owners gain nothing: R is compared too. [K-9]
    @Test(
        arguments: [
            "98519eadf35b995233b51b5cd23e9cc5a28b639b5a4af0ec903cb960d81b7819",
            "9bad33f580df7ecc49df5342bac8145d5bedc40f573d1b067f3c4ce449689a15",
            "da99e28ba529cdde35a25fba9059e78ecaee239f99755b9b1aa4f65df00803e2",
            "9599999999999999999999999999999999999999999999999999999999999999",
            "55ae61520ca466adcc4ae4a32dc1633a5d749c64a5b50f136fc3469f27e487e6",
            "5252cc0a7f208133b620acbd4537eba2a4123bf0a8c2e4f980c3b31bb69765ea",
            "13661d745ad63221ca5da0456fa618713511dc60668aa464e55b09a20ff7fc1d",
            "e6ff0e4955925b2100e8ceebbd4ffe93e6fdfc71c226b33409a570d916254f72",
            "e4dd22778010b28a10d0ddcf35d7a144216299cbe36ba86b31952ef0a294176e",
            "543ac908ca97124ab06caab11552257e53aba22a4e66b769175823a19a0452e0",
            "245c079551b9a0f1a9aec79baef0c668a9e05d3617a15de23dd6dcf60c329fdd",
            "0700f1b6aa6da4deff17311442b0016c1902038e3dd94ccbf65a8f26e9dab08d",
            "0922dd887fef4d75ef2f2230ca285ebbde9d66341c945794ce6ad10f5d6be891",
            "99c536f73568edb54f93554eeaadda81ac545dd5b1994896e8a7dc5e65fbad1f",
            "5218bec9ac0aeea7b1c34491b415b50d6dd4344d044058f7176e9d3b44d9071f",
            "bb4255004e1751e5c7d8e11762ee19e81f4c8065e5aad33018ebd48131ff57fb",
            "bd714bc26817786bc082589a0814771ac15a981628f57dc7304c30a8d7e29dd7",
            "8bdbb1de70b215197f216597cd547f734259259bae3a35519418135b2b994a26",
            "9be7413653f511584e3cbb6e4bea4af2922bcbb2fbbfa708e89162c4bb26f8e0",
            "32bdaaffb1e8ae1a38271ee89d11e617e0b37f9a1a552ccfe7142b7ece00a804",
            "308eb43d97e887943f7da765f7eb88e53ea567e9d70a8238cfb3cf57281d6228",
        ] as [Hex])
    func pointOfMixedOrderIsTaken(_ key: Hex) {
        #expect(Self.isValid(key.bytes))
        #expect(Self.refusal(of: key.bytes) == nil)
    }

    /// y = p…p + 18 with either sign, which is every y that is not reduced, and x = 0 with its sign bit set.
    @Test func encodingThatIsNotCanonicalIsRefused() {
        for low in UInt8(0xed)...0xff {
            for high: UInt8 in [0x7f, 0xff] {
                #expect(!Self.isValid([low] + Bytes(repeating: 0xff, count: 30) + [high]))
            }
        }
        #expect(!Self.isValid([1] + Bytes(repeating: 0, count: 30) + [0x80]))
        #expect(!Self.isValid([0xec] + Bytes(repeating: 0xff, count: 31)))
    }

    /// y = 2, 7, 8, 11, 12 and 13: no x belongs to them. R = B and S = 1 would be a signature under the identity.
    @Test(arguments: [2, 7, 8, 11, 12, 13] as [UInt8])
    func bytesOffTheCurveVerifyNothing(_ y: UInt8) {
        let signature: Bytes = [0x58] + Bytes(repeating: 0x66, count: 31) + [1] + Bytes(repeating: 0, count: 31)
        for high: UInt8 in [0, 0x80] {
            let key: Bytes = [y] + Bytes(repeating: 0, count: 30) + [high]
            #expect(Self.isValid(key))
            let verifies = Ed25519.isValid(signature.span, for: Bytes().span, publicKey: key.span)
            #expect(!verifies)
        }
    }

    @Test(arguments: [0, 31, 33, 64])
    func anotherLengthIsRefused(_ count: Int) {
        // A prefix of 32 bytes would be the base point.
        let key = Bytes([0x58] + Bytes(repeating: 0x66, count: 63)).prefix(count)
        #expect(!Self.isValid(Bytes(key)))
        #expect(Self.refusal(of: Bytes(key)) == .malformedKey)
    }
}
