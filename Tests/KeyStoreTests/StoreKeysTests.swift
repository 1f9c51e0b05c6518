import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// How rows are sealed and authenticated. The expectations come from Python's hashlib.
struct StoreKeysTests {
    private static let storeKey = Bytes(0..<32)
    private let keys = StoreKeys(storeKey: SecretBytes(copying: storeKey.span))
    private let otherKeys = StoreKeys(storeKey: SecretBytes(copying: Bytes(1..<33).span))

    @Test func aTagIsTheOneOfTheWrittenRule() {
        let values: [SQLiteValue] = [.integer(-2), .null, .text("añ"), .blob([1, 2, 3]), .blob([]), .text("")]
        #expect(
            keys.tag(of: values, in: "devices").hex
                == "4389cb6213f9fb4171d5f50f7d4e6ac780cd0a8750d3b1bbd206c377aa810193")
        #expect(keys.check.hex == "856049db5f81dec0fd44b60a26b353aa751de2d6f7342381f3a8a6c5d06aa7e6")
    }

    @Test func noTwoRowsHaveOneTag() {
        let rows: [[SQLiteValue]] = [
            [.text("ab"), .text("c")], [.text("a"), .text("bc")], [.text("abc")], [.text("abc"), .null],
            [.blob([0x61, 0x62]), .text("c")], [.text("ab"), .text("c"), .text("")], [.integer(0), .text("c")],
            [.blob([])], [.text("")], [.null], [],
        ]
        #expect(Set(rows.map { keys.tag(of: $0, in: "devices") }).count == rows.count)
    }

    @Test func aTagBelongsToItsTableAndItsKey() {
        let values: [SQLiteValue] = [.integer(1)]
        let tags: Set<Bytes> = [
            keys.tag(of: values, in: "devices"), keys.tag(of: values, in: "answers"),
            otherKeys.tag(of: values, in: "devices"),
        ]
        #expect(tags.count == 3)
    }

    @Test func aSealedStateOpensUnderItsNameAndRevisionAlone() throws {
        let (form, revision) = (Bytes(repeating: 0x5a, count: 40), Bytes(repeating: 7, count: 16))
        let sealed = keys.seal(form.span, named: "device", revision)
        #expect(try keys.open(sealed, named: "device", revision).withSpan { Bytes(copying: $0) } == form)
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "provider", revision).count }
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "device", revision.dropLast() + [8]).count }
        #expect(throws: SodiumRefusal.self) { try otherKeys.open(sealed, named: "device", revision).count }
        #expect(sealed.count == 24 + 40 + 16)
        #expect(keys.seal(form.span, named: "device", revision) != sealed, "a nonce was used twice")
    }

    @Test func aSealedStateOpensUnchangedOnly() {
        let revision = Bytes(repeating: 7, count: 16)
        let sealed = keys.seal(Bytes(repeating: 0x5a, count: 32).span, named: "device", revision)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: SodiumRefusal.self) { try keys.open(changed, named: "device", revision).count }
        }
        for count in 0..<sealed.count {
            #expect(throws: SodiumRefusal.self) {
                try keys.open(Bytes(sealed.prefix(count)), named: "device", revision).count
            }
        }
    }
}
