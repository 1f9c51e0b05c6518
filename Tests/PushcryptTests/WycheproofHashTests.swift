import Testing

@testable import Pushcrypt

@Suite struct WycheproofHashTests {
    private struct Tag: Decodable {
        let tcId: Int
        let key: Hex
        let msg: Hex
        let tag: Hex
        let result: WycheproofResult
    }

    /// Half of the tags are cut to 128 bits; ours are compared at the same length.
    @Test func hmacIsAsTheFileSays() throws {
        guard let file = try WycheproofFile<Tag>("wycheproof-hmac_sha256_test.json", algorithm: "HMACSHA256") else {
            return
        }
        file.run(as: "HMAC-SHA256") { test in
            let hmac = HMACSHA256(key: test.key.bytes.span)
            hmac.update(test.msg.bytes.span)
            let prefix = Bytes(hmac.finishPublic().prefix(test.tag.bytes.count))
            #expect((prefix == test.tag.bytes) == (test.result == .valid), "test \(test.tcId)")
            #expect([16, 32].contains(test.tag.bytes.count))
        }
    }

    private struct Derivation: Decodable {
        let tcId: Int
        let ikm: Hex
        let salt: Hex
        let info: Hex
        let size: Int
        let okm: Hex
        let result: WycheproofResult
    }

    @Test func hkdfIsAsTheFileSays() throws {
        guard let file = try WycheproofFile<Derivation>("wycheproof-hkdf_sha256_test.json", algorithm: "HKDF-SHA-256")
        else { return }
        file.run(as: "HKDF-SHA256") { test in
            let prk = HKDF.extract(salt: test.salt.bytes.span) { $0.update(test.ikm.bytes.span) }
            let okm = try? prk.withSpan { (prk) throws(SodiumRefusal) in
                try HKDF.expand(prk: prk, length: test.size) { $0.update(test.info.bytes.span) }.bytes
            }
            #expect(okm == (test.result == .valid ? test.okm.bytes : nil), "test \(test.tcId)")
        }
        #expect(file.cases.filter { $0.result == .invalid }.map(\.size) == [8161, 8161, 8161])
    }
}
