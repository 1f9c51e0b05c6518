import Testing
import VectorKit

@testable import Pushcrypt

/// The four bytes that name a key: a hint, never an identity. (`Docs/Format.md`, K-1)
@Suite struct KeyIDTests {
    @Test(
        arguments: [(0, "00000000"), (1, "00000001"), (0x654d_b668, "654db668"), (.max, "ffffffff")]
            as [(UInt32, String)])
    func anIDIsWrittenWithAllItsDigits(_ value: UInt32, _ text: String) {
        #expect(KeyID(value: value).description == text && KeyID(text)?.value == value)
    }

    @Test(arguments: [
        "", "654db66", "654db6680", "654db66g", "0x54db66", "+54db668", "654db\u{ff18}", "-0000001", " 54db668",
    ])
    func whatHasNotEightDigitsIsNoID(_ text: String) {
        #expect(KeyID(text) == nil)
    }

    /// Two keys of the vectors have one id, and are two keys.
    @Test func keysWithOneIDAreStillTwoKeys() throws {
        let pairs = try KitGroup.keys.vectors().filter { $0.path.contains("whose-id-another-has-too") }
        let devices = try pairs.filter { try $0.one("kind") == "device-public" }.map {
            try DevicePublicKey(text: $0.text)
        }
        try #require(devices.count == 2)
        #expect(devices[0].id == devices[1].id && devices[0] != devices[1])
    }

    /// The same 32 bytes have another id as the other kind of key.
    @Test func theKindOfAKeyGoesIntoItsID() {
        let bytes = Bytes(repeating: 9, count: 32)
        let types: [KeyID.KeyType] = [.x25519, .provider, .xwing, .signing]
        #expect(Set(types.map { KeyID(of: bytes.span, type: $0) }).count == 4)
    }
}
