import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// How rows are sealed and authenticated. The expectations come from Python's hashlib.
struct StoreKeysTests {
    private static let storeKey = Bytes(0..<32)
    private static let storeID = Bytes(0x40..<0x50)

    private let keys = StoreKeys(storeKey: SecretBytes(copying: storeKey.span), storeID: storeID)

    @Test func aTagIsTheOneOfTheWrittenRule() {
        let values: [SQLiteValue] = [.integer(-2), .null, .text("añ"), .blob([1, 2, 3]), .blob([]), .text("")]
        #expect(
            keys.tag(of: values[...], in: "devices").hex
                == "be0c6ad118c31109c0301e8cb4989a6eba13fb20af4783a1bc0f0c894c1c8b2e")
        #expect(keys.check.hex == "dcae11b9c98cda33758a924dbd1995ba59b88f39e65eccfaca8c0f3a755f2da9")
    }

    @Test func noTwoRowsHaveOneTag() {
        let rows: [[SQLiteValue]] = [
            [.text("ab"), .text("c")], [.text("a"), .text("bc")], [.text("abc")], [.text("abc"), .null],
            [.blob([0x61, 0x62]), .text("c")], [.text("ab"), .text("c"), .text("")], [.integer(0), .text("c")],
            [.blob([])], [.text("")], [.null], [],
        ]
        #expect(Set(rows.map { keys.tag(of: $0[...], in: "devices") }).count == rows.count)
    }

    @Test func aTagBelongsToItsTableItsStoreAndItsKey() {
        let values: [SQLiteValue] = [.integer(1)]
        let otherStore = StoreKeys(storeKey: SecretBytes(copying: Self.storeKey.span), storeID: Bytes(0x41..<0x51))
        let otherKey = StoreKeys(storeKey: SecretBytes(copying: Bytes(1..<33).span), storeID: Self.storeID)
        let tags: Set<Bytes> = [
            keys.tag(of: values[...], in: "devices"), keys.tag(of: values[...], in: "answers"),
            otherStore.tag(of: values[...], in: "devices"), otherKey.tag(of: values[...], in: "devices"),
        ]
        #expect(tags.count == 4)
    }

    @Test func aSealedStateOpensUnderItsNameAndRevisionAlone() throws {
        let (form, revision) = (Bytes(repeating: 0x5a, count: 40), Bytes(repeating: 7, count: 16))
        let sealed = keys.seal(form.span, named: "device", revision)
        #expect(try keys.open(sealed, named: "device", revision).withSpan { Bytes(copying: $0) } == form)
        let otherStore = StoreKeys(storeKey: SecretBytes(copying: Self.storeKey.span), storeID: Bytes(0x41..<0x51))
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "provider", revision).count }
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "device", revision.dropLast() + [8]).count }
        #expect(throws: SodiumRefusal.self) { try otherStore.open(sealed, named: "device", revision).count }
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
