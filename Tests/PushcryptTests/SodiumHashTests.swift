import Testing

@testable import Pushcrypt

/// SHA-256, HMAC-SHA256 and HKDF-SHA256 against FIPS 180-4, RFC 4231 and RFC 5869.
@Suite struct SodiumHashTests {
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ] as [(String, Hex)])
    func digestIsThatOfFIPS180(message: String, digest: Hex) {
        let message = Bytes(message.utf8)
        #expect(SHA256.digest(message.span) == digest.bytes)
        for cut in 0...message.count {
            let hash = SHA256()
            hash.update(message.span.extracting(0..<cut))
            hash.update(message.span.extracting(cut..<message.count))
            #expect(hash.finish() == digest.bytes, "fed in two pieces, cut at \(cut)")
        }
    }

    struct Tag: Sendable {
        let key: Bytes
        let message: Bytes
        let tag: Hex

        init(key: Bytes, message: Bytes, tag: Hex) {
            self.key = key
            self.message = message
            self.tag = tag
        }

        init(key: Bytes, message: String, tag: Hex) {
            self.init(key: key, message: Bytes(message.utf8), tag: tag)
        }
    }

    /// RFC 4231, test cases 1 to 4, 6 and 7; case 5 is a truncated tag, which nothing here makes.
    @Test(arguments: [
        Tag(
            key: Bytes(repeating: 0x0b, count: 20), message: "Hi There",
            tag: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Tag(
            key: Bytes("Jefe".utf8), message: "what do ya want for nothing?",
            tag: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Tag(
            key: Bytes(repeating: 0xaa, count: 20), message: Bytes(repeating: 0xdd, count: 50),
            tag: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Tag(
            key: Bytes(1...25), message: Bytes(repeating: 0xcd, count: 50),
            tag: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Tag(
            key: Bytes(repeating: 0xaa, count: 131), message: "Test Using Larger Than Block-Size Key - Hash Key First",
            tag: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Tag(
            key: Bytes(repeating: 0xaa, count: 131),
            message: "This is a test using a larger than block-size key and a larger than block-size data. "
                + "The key needs to be hashed before being used by the HMAC algorithm.",
            tag: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ])
    func tagIsThatOfRFC4231(_ known: Tag) {
        let hmac = HMACSHA256(key: known.key.span)
        for byte in known.message {
            let piece: Bytes = [byte]
            hmac.update(piece.span)
        }
        #expect(hmac.finishPublic() == known.tag.bytes, "fed byte by byte")

        let whole = HMACSHA256(key: known.key.span)
        whole.update(known.message.span)
        #expect(whole.finish().bytes == known.tag.bytes)
    }

    @Test func labelIsHashedAsItsText() {
        let text = Bytes("what do ya want for nothing?".utf8)
        let hash = SHA256()
        hash.update("what do ya want for nothing?")
        #expect(hash.finish() == SHA256.digest(text.span))

        let jefe = Bytes("Jefe".utf8)
        let hmac = HMACSHA256(key: jefe.span)
        hmac.update("what do ya want for nothing?")
        #expect(
            hmac.finishPublic() == Bytes(hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    }

    struct Derivation: Sendable {
        let ikm: Bytes
        let salt: Bytes
        let info: Bytes
        let prk: Hex
        let okm: Hex
    }

    /// RFC 5869, test cases 1 to 3.
    @Test(arguments: [
        Derivation(
            ikm: Bytes(repeating: 0x0b, count: 22), salt: Bytes(0x00...0x0c), info: Bytes(0xf0...0xf9),
            prk: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            okm: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Derivation(
            ikm: Bytes(0x00...0x4f), salt: Bytes(0x60...0xaf), info: Bytes(0xb0...0xff),
            prk: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            okm: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        Derivation(
            ikm: Bytes(repeating: 0x0b, count: 22), salt: [], info: [],
            prk: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            okm: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ])
    func keyMaterialIsThatOfRFC5869(_ known: Derivation) throws {
        let prk = HKDF.extract(salt: known.salt.span) { $0.update(known.ikm.span) }
        #expect(prk.bytes == known.prk.bytes)
        // Shorter output is a prefix of longer output, across the ends of the blocks of 32 bytes.
        for length in 1...known.okm.bytes.count {
            let okm = try HKDF.expand(prk: known.prk.bytes.span, length: length) { $0.update(known.info.span) }
            #expect(okm.bytes == Bytes(known.okm.bytes.prefix(length)))
        }
    }

    @Test(arguments: [(Int.min, false), (0, false), (1, true), (8160, true), (8161, false), (Int.max, false)])
    func keyMaterialHasOneTo8160Bytes(length: Int, isAllowed: Bool) {
        let prk = Bytes(repeating: 1, count: 32)
        let count = try? HKDF.expand(prk: prk.span, length: length) { _ in }.count
        #expect(count == (isAllowed ? length : nil))
    }

    /// Made with Python's `hashlib.blake2b`, key 00…1f, of nothing and of the bytes 00…c7.
    @Test(
        arguments: [
            (0, "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d"),
            (200, "a39ff6e7e838226fd50e24a55375ff3a39419fd93e32cc463f3f74323291c425"),
        ] as [(UInt8, Hex)])
    func keyedBLAKE2bIsThatOfRFC7693(count: UInt8, tag: Hex) {
        let key = Bytes(0...31)
        let message = Bytes(0..<count)
        let found = BLAKE2b.tag(of: message.span, key: key.span)
        #expect(found == tag.bytes)
    }
}
