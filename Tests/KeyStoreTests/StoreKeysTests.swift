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
            keys.tag(of: values[...], in: "devices"), keys.tag(of: values[...], in: "answer_secrets"),
            otherStore.tag(of: values[...], in: "devices"), otherKey.tag(of: values[...], in: "devices"),
        ]
        #expect(tags.count == 4)
    }

    @Test func aSealedSecretOpensOnlyWhereItWasSealed() throws {
        let secret = Bytes(repeating: 0x5a, count: 32)
        let place = StoreKeys.Place(table: "answer_secrets", row: 7, generation: 3, state: 2)
        let sealed = keys.seal(secret.span, at: place)
        #expect(sealed.count == 24 + 32 + 16)
        #expect(try keys.open(sealed, at: place).withSpan { Bytes(copying: $0) } == secret)
        #expect(keys.seal(secret.span, at: place) != sealed, "a nonce was used twice")
        let elsewhere = [
            StoreKeys.Place(table: "provider_keys", row: 7, generation: 3, state: 2),
            StoreKeys.Place(table: "answer_secrets", row: 8, generation: 3, state: 2),
            StoreKeys.Place(table: "answer_secrets", row: 7, generation: 4, state: 2),
            StoreKeys.Place(table: "answer_secrets", row: 7, generation: 3, state: 1),
        ]
        for place in elsewhere {
            #expect(throws: SodiumRefusal.self) { try keys.open(sealed, at: place).count }
        }
        let otherStore = StoreKeys(storeKey: SecretBytes(copying: Self.storeKey.span), storeID: Bytes(0x41..<0x51))
        #expect(throws: SodiumRefusal.self) { try otherStore.open(sealed, at: place).count }
    }

    @Test func aSealedStateOpensUnderItsNameAndRevisionAlone() throws {
        let (form, revision) = (Bytes(repeating: 0x5a, count: 40), Bytes(repeating: 7, count: 16))
        let sealed = keys.seal(form.span, named: "device", revision)
        #expect(try keys.open(sealed, named: "device", revision).withSpan { Bytes(copying: $0) } == form)
        let otherStore = StoreKeys(storeKey: SecretBytes(copying: Self.storeKey.span), storeID: Bytes(0x41..<0x51))
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "provider", revision).count }
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, named: "device", revision.dropLast() + [8]).count }
        #expect(throws: SodiumRefusal.self) { try otherStore.open(sealed, named: "device", revision).count }
        // Nor as the secret of a row.
        let place = StoreKeys.Place(table: "states", row: 0, generation: 0, state: 0)
        #expect(throws: SodiumRefusal.self) { try keys.open(sealed, at: place).count }
    }

    @Test func aSealedSecretOpensUnchangedOnly() {
        let place = StoreKeys.Place(table: "answer_secrets", row: 7, generation: 3, state: 2)
        let sealed = keys.seal(Bytes(repeating: 0x5a, count: 32).span, at: place)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: SodiumRefusal.self) { try keys.open(changed, at: place).count }
        }
        for count in 0..<sealed.count {
            #expect(throws: SodiumRefusal.self) { try keys.open(Bytes(sealed.prefix(count)), at: place).count }
        }
    }
}
