import Testing

@testable import Pushcrypt

@Suite struct WycheproofAEADTests {
    private struct Message: Decodable {
        let tcId: Int
        let flags: Set<String>
        let key: Hex
        let iv: Hex
        let aad: Hex
        let msg: Hex
        let ct: Hex
        let tag: Hex
        let result: WycheproofResult

        var sealed: Bytes { ct.bytes + tag.bytes }
        var hasWrongNonce: Bool { flags.contains("InvalidNonceSize") }
        /// The plaintext if the message is to be opened.
        var expected: Bytes? { result == .valid ? msg.bytes : nil }
    }

    @Test func chaCha20Poly1305SealsAndOpensAsTheFileSays() throws {
        guard
            let file = try WycheproofFile<Message>(
                "wycheproof-chacha20_poly1305_test.json", algorithm: "CHACHA20-POLY1305")
        else { return }
        try file.run(as: "ChaCha20-Poly1305") { test in
            let opened = try? ChaCha20Poly1305.open(
                test.sealed.span, key: test.key.bytes.span, nonce: test.iv.bytes.span,
                authenticating: test.aad.bytes.span
            ).bytes
            #expect(opened == test.expected, "test \(test.tcId)")

            var sealed = Bytes()
            func seal() throws(SodiumRefusal) {
                try ChaCha20Poly1305.seal(
                    test.msg.bytes.span, key: test.key.bytes.span, nonce: test.iv.bytes.span,
                    authenticating: test.aad.bytes.span, appendingTo: &sealed)
            }
            if test.hasWrongNonce {
                #expect(throws: SodiumRefusal.self, "test \(test.tcId)") { try seal() }
                #expect(sealed.isEmpty, "test \(test.tcId)")
            } else {
                // The invalid ones have a right ciphertext under a wrong tag.
                try seal()
                #expect((sealed == test.sealed) == (test.result == .valid), "test \(test.tcId)")
            }
        }
        #expect(file.cases.filter(\.hasWrongNonce).count == 9)
    }

    @Test func xChaCha20Poly1305OpensAsTheFileSays() throws {
        guard
            let file = try WycheproofFile<Message>(
                "wycheproof-xchacha20_poly1305_test.json", algorithm: "XCHACHA20-POLY1305")
        else { return }
        file.run(as: "XChaCha20-Poly1305") { test in
            let opened = try? XChaCha20Poly1305.open(
                test.sealed.span, key: test.key.bytes.span, nonce: test.iv.bytes.span,
                authenticating: test.aad.bytes.span
            ).bytes
            #expect(opened == test.expected, "test \(test.tcId)")
            guard !test.hasWrongNonce else { return }

            // The form at rest: the nonce stands before the ciphertext.
            let atRest = test.iv.bytes + test.sealed
            let openedAtRest = try? XChaCha20Poly1305.open(
                atRest.span, key: test.key.bytes.span, authenticating: test.aad.bytes.span
            ).bytes
            #expect(openedAtRest == test.expected, "test \(test.tcId)")
        }
        #expect(file.cases.filter(\.hasWrongNonce).count == 9)
    }
}
