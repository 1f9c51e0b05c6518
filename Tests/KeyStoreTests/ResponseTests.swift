import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The device key of the format's worked example, and no other; the same in every process.
struct OneKey {
    static let scalar: Bytes = [
        0xad, 0x2f, 0xd7, 0x2a, 0x03, 0x6a, 0x46, 0x6b, 0x48, 0x62, 0x67, 0x23, 0x12, 0x61, 0x08, 0xbd, 0xd3, 0xfc,
        0xe7, 0xfd, 0x42, 0x28, 0xae, 0xc5, 0x98, 0xd5, 0xdc, 0x29, 0x2b, 0xf4, 0xbc, 0x9f,
    ]

    let key: DeviceKey

    init() throws { key = try DeviceKey(scalar: Self.scalar.span) }

    /// A store with the key alone.
    var store: MemoryDeviceStore {
        get throws {
            let store = MemoryDeviceStore()
            try store.add(key)
            return store
        }
    }
}

/// A user's responses wait on the disk, where nobody reads them without the device's key.
struct ResponseTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
    }

    private var responses: Responses { ExtensionDatabase(in: scratch.store).responses }

    /// A store with one device key.
    private func home(_ kind: DeviceStoreKind = .keychain) throws -> (store: any DeviceStore, key: DevicePublicKey) {
        let store = try kind.store()
        return (store, try store.add(topic: .app).publicKey)
    }

    private func texts(_ keys: any DeviceStore, at now: Timestamp = start) throws -> [String] {
        try responses.responses(openedWith: keys, at: now).map { String(decoding: $0.response, as: UTF8.self) }
    }

    /// How many lie in the file, whether they open or not.
    private func count() throws -> Int64 {
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).integer(
            "SELECT count(*) FROM responses")
    }

    /// The sealed bytes of the first row.
    private func sealedRow() throws -> Bytes {
        let rows = try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0)
            .rows("SELECT sealed FROM responses")
        guard case .blob(let sealed)? = rows.first?.first else { return [] }
        return sealed
    }

    @Test(arguments: DeviceStoreKind.allCases) func aResponseWaitsUntilItIsRemoved(_ kind: DeviceStoreKind) throws {
        let (store, key) = try home(kind)
        #expect(try texts(store) == [])
        #expect(try scratch.names() == [])
        #expect(try responses.keep(Bytes("on my way".utf8), sealedTo: key, at: start) == 0)
        #expect(try responses.keep(Bytes(), sealedTo: key, at: start.next) == 0)
        let first = try responses.responses(openedWith: store, at: start)
        #expect(first.map(\.keptAt) == [start, start.next])
        #expect(try texts(store) == ["on my way", ""])
        try responses.remove(first[0])
        try responses.remove(first[0])
        #expect(try texts(store) == [""])
    }

    /// Sealed by another program (`Tests/Data/Vectors/reference/hpke.py`): HPKE base mode, the label and a zero byte as
    /// info, the time as associated data.
    @Test func theSealedFormIsHPKE() throws {
        let sealed =
            "5fd47633b5e43fca7bad1bfbe424feacb175d9d4d4a30f166dbd30636f0b446b05c3200cfb55b930d9cf30ad7df1cc454906392419"
            + "530c03b25d7297fd3c"
        _ = try responses.keep(Bytes(), sealedTo: DeviceKey().publicKey, at: start)
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute(
            "INSERT INTO responses (key_id, kept, sealed) VALUES (\(0x654d_b668), 1767225600000, x'\(sealed)')")
        #expect(try texts(OneKey().store) == ["on my way 🚲"])
    }

    // MARK: Secrecy

    @Test func nothingOfAResponseLiesInTheClear() throws {
        let (store, key) = try home()
        let words = Bytes("meet me at the usual place".utf8)
        try responses.keep(words, sealedTo: key, at: start)
        let sealed = try readFile(scratch.file("extension.db"))
        #expect(!sealed.contains(words))
        #expect(!sealed.contains(Bytes("usual".utf8)))
        let kept = try responses.responses(openedWith: store, at: start)
        #expect(kept.map(\.response) == [words])
        let row = try sealedRow()
        #expect(sealed.contains(row))
        try responses.remove(try #require(kept.first))
        // Overwritten, so that the key does not open it later on either.
        #expect(!(try readFile(scratch.file("extension.db"))).contains(row))
        #expect(try scratch.names() == ["extension.db"])
    }

    @Test func aLoggedOutAccountsResponsesAreLost() throws {
        let (store, key) = try home()
        let other = try store.add(to: "second").publicKey
        try responses.keep(Bytes("mine".utf8), sealedTo: key, at: start)
        try responses.keep(Bytes("yours".utf8), sealedTo: other, at: start)
        try store.change { $0.removeAccount("default") }
        #expect(try texts(store) == ["yours"])
        #expect(try count() == 1)
        // No store at all has no key either.
        try store.discard()
        #expect(try texts(store) == [])
        #expect(try count() == 0)
    }

    @Test func aRotationDoesNotLoseAResponseDuringTheGrace() throws {
        let (store, key) = try home()
        try responses.keep(Bytes("late".utf8), sealedTo: key, at: start)
        try store.change { (state) throws(KeyStoreError) in
            try state.rotate(at: start)
            try state.confirm(grace: .seconds(60), at: start)
        }
        #expect(try texts(store, at: start + 60) == ["late"])
        #expect(try texts(store, at: (start + 60).next) == [])
    }

    /// Before the first unlock there is no key, and that is no reason to give a response up.
    @Test(arguments: [KeyStoreError.Code.storeLocked, .corruptStore, .storeBusy, .missingEntitlement])
    func aStoreThatCannotBeReadLosesNothing(_ failure: KeyStoreError.Code) throws {
        struct Failing: DeviceStore {
            let code: KeyStoreError.Code

            func load() throws(KeyStoreError) -> (state: DeviceState, revision: Bytes)? {
                throw KeyStoreError(code, "")
            }

            func compareAndSwap(_: DeviceState, replacing _: Bytes?) throws(KeyStoreError) -> Bool {
                throw KeyStoreError(code, "")
            }

            func discard() throws(KeyStoreError) { throw KeyStoreError(code, "") }
        }
        let (store, key) = try home()
        try responses.keep(Bytes("kept".utf8), sealedTo: key, at: start)
        #expect(code { try responses.responses(openedWith: Failing(code: failure), at: start) } == failure)
        #expect(try texts(store) == ["kept"])
    }

    @Test(arguments: [
        "UPDATE responses SET kept = kept + 1", "UPDATE responses SET sealed = zeroblob(length(sealed))",
        "UPDATE responses SET sealed = substr(sealed, 1, 47)", "UPDATE responses SET sealed = x''",
        "UPDATE responses SET sealed = CAST(sealed || x'00' AS BLOB)", "UPDATE responses SET key_id = key_id + 1",
    ])
    func aResponseThatWasChangedIsLost(_ change: String) throws {
        let (store, key) = try home()
        try responses.keep(Bytes("kept".utf8), sealedTo: key, at: start)
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute(change)
        #expect(try texts(store) == [])
        #expect(try count() == 0)
    }

    // MARK: How much is kept

    @Test func theOldestOfTooManyIsGivenUp() throws {
        let (store, key) = try home()
        for number in 1...64 { #expect(try responses.keep(Bytes("\(number)".utf8), sealedTo: key, at: start) == 0) }
        #expect(try responses.keep(Bytes("65".utf8), sealedTo: key, at: start) == 1)
        #expect(try texts(store) == (2...65).map { "\($0)" })
    }

    @Test func aResponseHasAMostOfBytes() throws {
        let (store, key) = try home()
        var response = Bytes(repeating: 0x78, count: 1 << 19)
        try responses.keep(response, sealedTo: key, at: start)
        #expect(try responses.responses(openedWith: store, at: start).map(\.response) == [response])
        response.append(0)
        #expect(code { try responses.keep(response, sealedTo: key, at: start) } == .responseTooLarge)
        #expect(try responses.responses(openedWith: store, at: start).count == 1)
    }
}
