import Testing

@testable import Pushcrypt

/// ChaCha20-Poly1305 against RFC 8439, XChaCha20-Poly1305 against draft-irtf-cfrg-xchacha-03, and what both refuse.
@Suite struct SodiumAEADTests {
    private static let key = Bytes(0x80...0x9f)
    private static let plaintext = Bytes(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8)
    private static let data = Bytes(hex: "50515253c0c1c2c3c4c5c6c7")

    // RFC 8439, section 2.8.2
    private static let nonce = Bytes(hex: "070000004041424344454647")
    private static let sealed = Bytes(
        hex: """
            d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b
            1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
            3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691
            """)

    // draft-irtf-cfrg-xchacha-03, section A.3.1
    private static let longNonce = Bytes(0x40...0x57)
    private static let sealedUnderLongNonce = Bytes(
        hex: """
            bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39
            ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
            21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49
            """)

    private static func open(
        _ sealed: Bytes, key: Bytes = key, nonce: Bytes = nonce, data: Bytes = data
    ) throws(SodiumRefusal) -> Bytes {
        try ChaCha20Poly1305.open(sealed.span, key: key.span, nonce: nonce.span, authenticating: data.span).bytes
    }

    private static func openLong(
        _ sealed: Bytes, key: Bytes = key, nonce: Bytes = longNonce, data: Bytes = data
    ) throws(SodiumRefusal) -> Bytes {
        try XChaCha20Poly1305.open(sealed.span, key: key.span, nonce: nonce.span, authenticating: data.span).bytes
    }

    @Test func messageOfRFC8439IsSealedBehindWhatWasThere() throws {
        var output: Bytes = [0xaa]
        try ChaCha20Poly1305.seal(
            Self.plaintext.span, key: Self.key.span, nonce: Self.nonce.span,
            authenticating: Self.data.span, appendingTo: &output)
        #expect(output == [0xaa] + Self.sealed)
    }

    @Test func messageOfRFC8439IsOpened() throws {
        #expect(try Self.open(Self.sealed) == Self.plaintext)
    }

    @Test func messageOfTheXChaChaDraftIsOpened() throws {
        #expect(try Self.openLong(Self.sealedUnderLongNonce) == Self.plaintext)
    }

    @Test func nothingOpensOnceABitHasChanged() {
        for changed in Self.sealed.withEachBitFlipped { #expect((try? Self.open(changed)) == nil) }
        for key in Self.key.withEachBitFlipped {
            #expect((try? Self.open(Self.sealed, key: key)) == nil)
            #expect((try? Self.openLong(Self.sealedUnderLongNonce, key: key)) == nil)
        }
        for nonce in Self.nonce.withEachBitFlipped {
            #expect((try? Self.open(Self.sealed, nonce: nonce)) == nil)
        }
        for nonce in Self.longNonce.withEachBitFlipped {
            #expect((try? Self.openLong(Self.sealedUnderLongNonce, nonce: nonce)) == nil)
        }
        for data in Self.data.withEachBitFlipped + [[], Self.data + [0]] {
            #expect((try? Self.open(Self.sealed, data: data)) == nil)
            #expect((try? Self.openLong(Self.sealedUnderLongNonce, data: data)) == nil)
        }
    }

    @Test func nothingOpensThatWasCutOrExtended() {
        for count in 0..<Self.sealed.count {
            #expect((try? Self.open(Bytes(Self.sealed.prefix(count)))) == nil)
            #expect((try? Self.openLong(Bytes(Self.sealedUnderLongNonce.prefix(count)))) == nil)
        }
        #expect((try? Self.open(Self.sealed + [0])) == nil)
        #expect((try? Self.openLong(Self.sealedUnderLongNonce + [0])) == nil)
    }

    /// The right bytes are cut or followed by more, so that nothing but the length is wrong.
    @Test(arguments: [0, 8, 11, 13, 23, 24, 25, 32])
    func nonceOfAnotherLengthIsRefused(_ count: Int) {
        let nonce = Bytes((Self.nonce + Bytes(repeating: 0, count: 20)).prefix(count))
        let longNonce = Bytes((Self.longNonce + Bytes(repeating: 0, count: 8)).prefix(count))
        var output: Bytes = [0xaa]
        #expect(throws: SodiumRefusal.self) {
            try ChaCha20Poly1305.seal(
                Self.plaintext.span, key: Self.key.span, nonce: nonce.span, authenticating: nonce.span,
                appendingTo: &output)
        }
        #expect(output == [0xaa])
        #expect((try? Self.open(Self.sealed, nonce: nonce)) == nil)
        let opensLong = (try? Self.openLong(Self.sealedUnderLongNonce, nonce: longNonce)) != nil
        #expect(opensLong == (count == 24))
    }

    @Test(arguments: [0, 16, 31, 33, 64])
    func keyOfAnotherLengthIsRefused(_ count: Int) {
        let key = Bytes((Self.key + Self.key).prefix(count))
        var output: Bytes = []
        #expect(throws: SodiumRefusal.self) {
            try ChaCha20Poly1305.seal(
                Self.plaintext.span, key: key.span, nonce: Self.nonce.span,
                authenticating: Self.data.span, appendingTo: &output)
        }
        #expect(throws: SodiumRefusal.self) {
            try XChaCha20Poly1305.seal(Self.plaintext.span, key: key.span, authenticating: Self.data.span)
        }
        #expect(output.isEmpty)
        #expect((try? Self.open(Self.sealed, key: key)) == nil)
        #expect((try? Self.openLong(Self.sealedUnderLongNonce, key: key)) == nil)
    }

    /// Sealing at rest chooses its own nonce, so it is checked by opening, which the known answers check.
    @Test(arguments: [0, 1, 15, 16, 17, 64, 1000])
    func valueAtRestIsNonceCiphertextAndTag(_ count: Int) throws {
        let plaintext = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let data = Self.data
        let first = try XChaCha20Poly1305.seal(plaintext.span, key: Self.key.span, authenticating: data.span)
        let second = try XChaCha20Poly1305.seal(plaintext.span, key: Self.key.span, authenticating: data.span)
        #expect(first.count == 24 + count + 16)
        #expect(first.prefix(24) != second.prefix(24), "a nonce was used twice")
        #expect(try Self.openLong(Bytes(first.dropFirst(24)), nonce: Bytes(first.prefix(24))) == plaintext)
        let opened = try XChaCha20Poly1305.open(first.span, key: Self.key.span, authenticating: data.span).bytes
        #expect(opened == plaintext)
    }

    @Test func valueAtRestOpensOnlyWhole() throws {
        let sealed = try XChaCha20Poly1305.seal(
            Self.plaintext.span, key: Self.key.span, authenticating: Self.data.span)
        func opens(_ sealed: Bytes) -> Bool {
            let opened = try? XChaCha20Poly1305.open(
                sealed.span, key: Self.key.span, authenticating: Self.data.span
            ).bytes
            return opened != nil
        }
        #expect(opens(sealed))
        for count in 0..<sealed.count { #expect(!opens(Bytes(sealed.prefix(count)))) }
        for changed in sealed.withEachBitFlipped { #expect(!opens(changed)) }
    }
}
