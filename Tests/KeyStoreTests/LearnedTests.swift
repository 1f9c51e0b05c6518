import Glibc
import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// An extension learns from messages, the app takes it in: nothing is lost, nothing is believed without a signature.
struct LearnedTests {
    private let provider: TestProvider
    private let scratch: Scratch

    init() throws {
        provider = try TestProvider()
        scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
    }

    private var database: ExtensionDatabase { ExtensionDatabase(in: scratch.store) }
    private var raw: SQLiteConnection {
        get throws { try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0) }
    }

    /// A store that trusts the provider, with one pending key; and what an extension makes of it.
    private func home(_ kind: DeviceStoreKind = .keychain) throws -> (
        store: any DeviceKeyStore, extension: ExtensionKeys
    ) {
        let store = try kind.store()
        _ = try store.generateDeviceKey(topic: .app, at: start)
        _ = try store.rotateDeviceKey(at: start)
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        return (store, ExtensionKeys(keys: store, database: database))
    }

    private func settle(
        _ keys: ExtensionKeys, _ certificate: Certificate?, openedWith state: DeviceKeyRecord.State = .active,
        in store: any DeviceKeyStore
    ) throws {
        let record = try #require(try store.deviceKeys().first { $0.state == state })
        try keys.settle(
            openedWith: record.publicKey, provider: provider.publicKey, certificate: certificate, topic: .app, at: start
        )
    }

    private func trust(_ keys: some DeviceKeyReading) throws -> ProviderTrust {
        try keys.trust(for: .app, account: "default")
    }

    // MARK: The extension

    @Test func anOrdinaryMessageKeepsNothing() throws {
        let (store, keys) = try home()
        try settle(keys, nil, in: store)
        #expect(try scratch.names().isEmpty)
        #expect(try trust(keys) == trust(store))
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func anExtensionKnowsWhatTheStoreKnowsAndWhatItLearned(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        let old = try provider.certificate(3, floor: 3)
        try store.acceptCertificate(old, of: provider.publicKey, topic: .app, at: start)
        let new = try provider.certificate(5, floor: 1)
        try settle(keys, new, in: store)
        #expect(try trust(keys).learned == LearnedTrust(new, floor: 3))
        #expect(try trust(store).learned == LearnedTrust(old), "the store itself is only read")
        #expect(try keys.trust(for: .other, account: "default") == store.trust(for: .other, account: "default"))
        #expect(try keys.trust(for: .app, account: "ben").pinned.isEmpty)
        #expect(try scratch.names() == ["extension.db"], "no lock and no log is left")
        #expect(mode(of: scratch.file("extension.db")) == 0o600)
    }

    @Test func aMessageThatComesAgainWritesNothing() throws {
        let (store, keys) = try home()
        let certificate = try provider.certificate(2)
        for _ in 0..<2 { try settle(keys, certificate, openedWith: .pending, in: store) }
        let before = try readFile(scratch.file("extension.db"))
        try settle(keys, certificate, openedWith: .pending, in: store)
        #expect(try readFile(scratch.file("extension.db")) == before)
    }

    /// The highest certificate, and the one with the highest floor: no more are needed.
    @Test func twoCertificatesAreKeptAtMost() throws {
        let (store, keys) = try home()
        var expected = LearnedTrust()
        for (epoch, floor) in [(9, 2), (5, 5), (7, 3), (12, 4), (12, 1), (3, 3), (11, 4)] as [(UInt32, UInt32)] {
            let certificate = try provider.certificate(epoch, floor: floor, signing: Int(floor))
            try settle(keys, certificate, in: store)
            expected.merge(LearnedTrust(certificate))
            #expect(try trust(keys).learned == expected)
            #expect(try raw.integer("SELECT count(*) FROM learned") <= 2)
        }
        #expect(try database.merge(into: store, at: start).raised == 2)
        #expect(try trust(store).learned == expected)
    }

    @Test func anExtensionThatCannotReadItsDatabaseBelievesTheStore() throws {
        let (store, keys) = try home()
        let certificate = try provider.certificate(3)
        try store.acceptCertificate(certificate, of: provider.publicKey, topic: .app, at: start)
        try settle(keys, try provider.certificate(5), in: store)
        try #require(unsafe unlink(scratch.file("extension.db")) == 0)
        try #require(unsafe mkdir(scratch.file("extension.db"), 0o700) == 0)
        let fresh = ExtensionKeys(keys: store, database: database)
        #expect(try trust(fresh).learned == LearnedTrust(certificate))
        #expect(code { try settle(fresh, provider.certificate(6), in: store) } == .inputOutput)
    }

    // MARK: The app

    @Test(arguments: DeviceStoreKind.allCases)
    func theAppTakesInWhatTheExtensionLearned(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        let certificate = try provider.certificate(4, floor: 4)
        try settle(keys, certificate, openedWith: .pending, in: store)
        let merged = try database.merge(into: store, at: start + 5)
        #expect(merged.confirmed.map(\.state) == [.active] && merged.raised == 1)
        #expect(merged.conflicts == 0 && merged.refused == 0)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
        #expect(try store.deviceKeys()[0].retiresAt == (start + 5).adding(.days(31)))
        #expect(try trust(store).learned == LearnedTrust(certificate) && trust(keys) == trust(store))
        #expect(try database.merge(into: store, at: start) == ExtensionDatabase.MergeResult())
        #expect(try raw.integer("SELECT (SELECT count(*) FROM learned) + (SELECT count(*) FROM opened)") == 0)
    }

    @Test func mergingWithoutAFileMakesNone() throws {
        let (store, _) = try home()
        #expect(try database.merge(into: store, at: start) == ExtensionDatabase.MergeResult())
        #expect(try scratch.names().isEmpty)
        let elsewhere = ExtensionDatabase(in: scratch.path + "/none")
        #expect(code { try elsewhere.merge(into: store, at: start) } == .storeMissing)
    }

    @Test func aContradictionIsReported() throws {
        let (store, keys) = try home()
        let mine = try provider.certificate(4, signing: 1)
        let theirs = try provider.certificate(4, signing: 2)
        try settle(keys, theirs, in: store)
        try store.acceptCertificate(mine, of: provider.publicKey, topic: .app, at: start)
        #expect(try database.merge(into: store, at: start).conflicts == 1)
        #expect(try trust(store).learned == LearnedTrust(max(mine, theirs)))
    }

    /// [T-6]
    @Test func whatWasLearnedOfARemovedProviderIsMergedToo() throws {
        let (store, keys) = try home()
        let certificate = try provider.certificate(4, floor: 4)
        try settle(keys, certificate, in: store)
        try store.removeAccount("default")
        #expect(try database.merge(into: store, at: start).raised == 1)
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        #expect(try trust(store).learned == LearnedTrust(certificate))
    }

    @Test func whatABusyStoreDoesNotTakeStays() throws {
        let (store, keys) = try home(.disk)
        let certificate = try provider.certificate(4)
        try settle(keys, certificate, in: store)
        let directory = try #require((store as? SQLiteKeyStore)?.directory)
        let home = try SQLiteKeyStore.open(in: directory.path, passphrase: nil, options: .impatient)
        let other = try SQLiteConnection(path: directory.file("keystore.db"), busyTimeout: 0)
        try other.execute("BEGIN IMMEDIATE")
        #expect(code { try database.merge(into: home, at: start) } == .storeBusy)
        try other.execute("ROLLBACK")
        #expect(try trust(keys).learned.certificate == certificate)
        #expect(try database.merge(into: home, at: start).raised == 1)
    }

    /// A merge that is ended at each of its writes, and finished by the next one.
    @Test func aMergeThatEndsAtAnyWriteIsFinishedByTheNext() throws {
        let certificates = [try provider.certificate(9, floor: 2), try provider.certificate(7, floor: 7)]
        var expected = LearnedTrust()
        for certificate in certificates { expected.merge(LearnedTrust(certificate)) }
        for end in 0..<4 {
            let keychain = ModelKeychain()
            let store = KeychainKeyStore(items: keychain.process("group"), accessGroup: "group")
            _ = try store.generateDeviceKey(topic: .app, at: start)
            _ = try store.rotateDeviceKey(at: start)
            try store.pinProvider(provider.publicKey, topic: .app, at: start)
            try store.acceptCertificate(provider.certificate(1), of: provider.publicKey, topic: .app, at: start)
            let keys = ExtensionKeys(keys: store, database: database)
            for certificate in certificates { try settle(keys, certificate, openedWith: .pending, in: store) }
            if end < 3 {
                for _ in 0..<end { keychain.before(.update) {} }
                keychain.before(.update) { keychain.fail(.update, with: -50) }
                #expect(code { try database.merge(into: store, at: start) } == .inputOutput)
                keychain.fail(.update, with: nil)
            } else {
                // The store has everything; the extension's database keeps it.
                let writer = try raw
                try writer.execute("BEGIN IMMEDIATE")
                let impatient = ExtensionDatabase(in: scratch.store, busyTimeout: 0)
                #expect(code { try impatient.merge(into: store, at: start) } == .storeBusy)
                try writer.execute("ROLLBACK")
            }
            #expect(try trust(keys).learned == expected, "nothing is lost in between")
            _ = try database.merge(into: store, at: start)
            #expect(try trust(store).learned == expected)
            #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
            #expect(try raw.integer("SELECT (SELECT count(*) FROM learned) + (SELECT count(*) FROM opened)") == 0)
        }
    }

    // MARK: Who can write the file

    @Test func whatIsPutIntoTheFileIsBelievedOnlyIfItsProviderSignedIt() throws {
        let (store, keys) = try home()
        let genuine = try provider.certificate(4)
        try settle(keys, genuine, in: store)
        let stranger = try TestProvider(ProviderKey())
        func put(_ key: ProviderPublicKey, _ topic: Topic, _ bytes: Bytes) throws {
            try raw.rows(
                "INSERT INTO learned VALUES (?, ?, ?)", [.blob(key.bytes), .text(topic.bundleID), .blob(bytes)])
        }
        for place in [1, 8, 12, 30, 60, 120] {
            var bytes = try provider.certificate(9, floor: 5).bytes
            bytes[place] ^= 1
            try put(provider.publicKey, .app, bytes)
        }
        try put(provider.publicKey, .app, try stranger.certificate(9).bytes)
        try put(provider.publicKey, .app, Bytes(try provider.certificate(9, floor: 5).bytes.reversed()))
        try put(provider.publicKey, .other, try provider.certificate(9).bytes)
        try put(stranger.publicKey, .app, try stranger.certificate(9, floor: 9).bytes)
        #expect(try trust(keys).learned == LearnedTrust(genuine))
        let merged = try database.merge(into: store, at: start)
        #expect(merged.refused == 9 && merged.raised == 2, "the stranger's is the stranger's alone")
        #expect(try trust(store).pins == [ProviderTrust.Pin(provider.publicKey, LearnedTrust(genuine))])
        #expect(try database.merge(into: store, at: start) == ExtensionDatabase.MergeResult())
    }

    /// What is forged does not push out what is genuine.
    @Test func aForgedCertificateIsReplacedByTheNextGenuineOne() throws {
        let (store, keys) = try home()
        var bytes = try provider.certificate(99, floor: 99).bytes
        bytes[60] ^= 1
        try settle(keys, try provider.certificate(4), in: store)
        try raw.rows(
            "INSERT INTO learned VALUES (?, 'com.example.app', ?)", [.blob(provider.publicKey.bytes), .blob(bytes)])
        let next = try provider.certificate(5)
        try settle(keys, next, in: store)
        #expect(try trust(keys).learned == LearnedTrust(next))
        #expect(try raw.integer("SELECT count(*) FROM learned") == 1)
    }

    @Test func aKeyThatIsNotPendingIsNotConfirmed() throws {
        let (store, _) = try home()
        let records = try store.deviceKeys()
        for key in [records[0].publicKey.bytes, DeviceKey().publicKey.bytes, Bytes()] {
            try database.write(at: start) { (connection) throws(KeyStoreError) in
                try LearnedTables(connection: connection).insert(openedWith: key)
            }
        }
        #expect(try database.merge(into: store, at: start).confirmed.isEmpty)
        #expect(try store.deviceKeys() == records)
    }

    @Test func moreRowsThanNeededAreNotRead() throws {
        let (store, keys) = try home()
        try settle(keys, try provider.certificate(4), in: store)
        try raw.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO learned SELECT provider, topic || i, certificate FROM learned, n
            """)
        #expect(try database.merge(into: store, at: start).refused <= LearnedTables.capacity)
    }
}
