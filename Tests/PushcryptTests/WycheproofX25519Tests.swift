import Testing

@testable import Pushcrypt

@Suite struct WycheproofX25519Tests {
    private struct Exchange: Decodable {
        let tcId: Int
        let flags: Set<String>
        let `public`: Hex
        let `private`: Hex
        let shared: Hex
        let result: WycheproofResult

        var sharedIsZero: Bool { shared.bytes.allSatisfy { $0 == 0 } }

        func sharedSecret() throws(SodiumRefusal) -> Bytes {
            try X25519.sharedSecret(scalar: `private`.bytes.span, publicKey: `public`.bytes.span).bytes
        }

        /// Whether a provider may import the public key.
        var isImported: Bool { (try? DevicePublicKey(bytes: `public`.bytes.span)) != nil }
    }

    @Test func sharedSecretIsAsTheFileSaysAndNeverZero() throws {
        guard let file = try WycheproofFile<Exchange>("wycheproof-x25519_test.json", algorithm: "XDH") else { return }
        file.run(as: "X25519") { test in
            let secret = try? test.sharedSecret()
            #expect(secret == (test.sharedIsZero ? nil : test.shared.bytes), "test \(test.tcId)")
        }
        #expect(file.cases.filter(\.sharedIsZero).count == 31)
    }

    /// Keys on the twist are imported: a device never makes them, they leak nothing, and telling them apart costs a
    /// multiplication.
    @Test func importRefusesPublicKeysOfSmallOrderAndNonCanonicalOnesAndNoOthers() throws {
        guard let file = try WycheproofFile<Exchange>("wycheproof-x25519_test.json", algorithm: "XDH") else { return }
        for test in file.cases {
            let isWeak = !test.flags.isDisjoint(with: ["LowOrderPublic", "NonCanonicalPublic"])
            #expect(test.isImported == !isWeak, "test \(test.tcId)")
            if test.sharedIsZero { #expect(!test.isImported, "test \(test.tcId)") }
        }
        // 31 of small order, and 13 encodings ≥ p or with bit 255 set of points that are fine.
        #expect(file.cases.filter { !$0.isImported }.count == 44)
    }
}
