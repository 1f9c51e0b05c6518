import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// An extension learns from messages, the app takes it in: nothing is lost, nothing is believed without a signature.
struct StatementFileTests {
    private let old = ProviderKey()
    private let new = ProviderKey()
    private let newest = ProviderKey()
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
    }

    private var path: String { scratch.file("statements.db") }
    private var file: StatementFile { StatementFile(in: scratch.store) }

    private func statement(
        _ old: ProviderKey, _ new: ProviderKey, acceptFor: Interval = RotationStatement.standardAcceptFor
    ) throws -> RotationStatement {
        try RotationStatement(from: old, to: new, at: start, acceptFor: acceptFor, overlap: .seconds(60))
    }

    /// A store that trusts `old`, with one pending key; and what an extension makes of it.
    private func home(_ kind: DeviceStoreKind = .keychain) throws -> (
        store: any DeviceKeyStore, extension: ExtensionKeys
    ) {
        let store = try kind.store()
        _ = try store.generateDeviceKey(topic: .app, at: start)
        _ = try store.rotateDeviceKey(at: start)
        try store.pinProvider(old.publicKey, named: "provider", topic: .app, at: start)
        return (store, ExtensionKeys(keys: store, statements: file))
    }

    private func active(_ store: any DeviceKeyStore) throws -> DevicePublicKey {
        try #require(try store.deviceKeys().first { $0.state == .active }).publicKey
    }

    private func pending(_ store: any DeviceKeyStore) throws -> DevicePublicKey {
        try #require(try store.deviceKeys().first { $0.state == .pending }).publicKey
    }

    // MARK: The extension

    @Test func anOrdinaryMessageKeepsNothing() throws {
        let (store, keys) = try home()
        try keys.settle(openedWith: try active(store), statements: [], topic: .app, at: start)
        try keys.settle(openedWith: DeviceKey().publicKey, statements: [], topic: .app, at: start)
        #expect(try scratch.names().isEmpty)
        #expect(try keys.trust(for: .app) == store.trust(for: .app))
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func anExtensionBelievesPinsAndChain(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        try keys.settle(
            openedWith: try active(store), statements: [try statement(old, new), try statement(new, newest)],
            topic: .app, at: start)
        let trust = try keys.trust(for: .app)
        #expect(trust.pinned == [newest.publicKey])
        #expect(trust.superseded.map(\.key) == [old.publicKey, new.publicKey])
        #expect(trust.candidates(for: old.id, at: start + 60) == [old.publicKey])
        #expect(trust.candidates(for: old.id, at: (start + 60).next).isEmpty)
        #expect(try store.trust(for: .app).pinned == [old.publicKey], "the store itself is only read")
        #expect(try keys.trust(for: .other) == store.trust(for: .other))
        #expect(try scratch.names() == ["statements.db"], "no lock and no log is left")
        #expect(mode(of: path) == 0o600)
    }

    /// The app had another first key, from which the extension has followed a rotation, and now has one built in.
    @Test(arguments: DeviceStoreKind.allCases)
    func whatAReplacedPinHasSignedIsWorthNothing(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        let builtIn = ProviderKey().publicKey
        try store.pinProvider(builtIn, named: "provider", topic: .app, replace: true, at: start)
        let trust = try keys.trust(for: .app)
        #expect(trust.pinned == [builtIn])
        for key in [old, new] { #expect(trust.candidates(for: key.id, at: start).isEmpty) }
        #expect(try file.merge(into: store, at: start).refused == 1)
        #expect(try store.trust(for: .app).pinned == [builtIn])
    }

    @Test func aStatementIsBelievedAfterItsTimeIfItTookEffectInTime() throws {
        let (store, keys) = try home()
        let brief = try statement(old, new, acceptFor: .seconds(10))
        try keys.settle(openedWith: try active(store), statements: [brief], topic: .app, at: start + 10)
        #expect(try keys.trust(for: .app).pinned == [new.publicKey])
        #expect(try file.merge(into: store, at: start + 999_999).changes.count == 1)
        #expect(try store.trust(for: .app).pinned == [new.publicKey])
    }

    @Test func aStatementThatIsNotAcceptedIsNotKept() throws {
        let (store, keys) = try home()
        let key = try pending(store)
        let late = try statement(old, new, acceptFor: .seconds(10))
        #expect(
            code { try keys.settle(openedWith: key, statements: [late], topic: .app, at: start + 11) }
                == .rotationRefused)
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        let thief = try statement(old, newest)
        #expect(
            code { try keys.settle(openedWith: key, statements: [thief], topic: .app, at: start) }
                == .rotationConflict)
        #expect(try file.merge(into: store, at: start).confirmed.isEmpty, "nothing of that message was kept")
    }

    @Test func aMessageThatComesAgainIsKeptOnceAndWritesNothing() throws {
        let (store, keys) = try home()
        let statements = [try statement(old, new)]
        for _ in 0..<3 {
            try keys.settle(openedWith: try pending(store), statements: statements, topic: .app, at: start)
        }
        let facts = try readFile(path)
        try file.keep(openedWith: try pending(store), statements: statements, topic: .app, at: start + 9)
        #expect(try readFile(path) == facts)
        #expect(try file.statements(for: .app).map(\.acceptedAt) == [start])
    }

    @Test func aFullFileTakesNoMore() throws {
        let chain = (0...StatementFile.capacity + 1).map { _ in ProviderKey() }
        for index in 0..<StatementFile.capacity {
            try file.keep(
                openedWith: nil, statements: [try statement(chain[index], chain[index + 1])], topic: .app, at: start)
        }
        let last = try statement(chain[StatementFile.capacity], chain[StatementFile.capacity + 1])
        #expect(
            code { try file.keep(openedWith: nil, statements: [last], topic: .app, at: start) } == .rotationRefused)
        let store = try DeviceStoreKind.memory.store()
        try store.pinProvider(chain[0].publicKey, named: "provider", at: start)
        #expect(try ExtensionKeys(keys: store, statements: file).trust(for: .app).pinned.first == chain[64].publicKey)
        #expect(try file.merge(into: store, at: start).changes.count == 64)
        try file.keep(openedWith: nil, statements: [last], topic: .app, at: start)
    }

    /// A thief has filled the file with rotations from one of his keys to the next; another sender has rotated as well.
    @Test(arguments: DeviceStoreKind.allCases)
    func aRecoveryIsKeptThoughTheFileIsFull(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        let (recovery, other, otherNew, good) = (RecoveryKey(), ProviderKey(), ProviderKey(), ProviderKey())
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        try store.pinProvider(other.publicKey, named: "other", topic: .app, at: start)
        let key = try active(store)
        try keys.settle(openedWith: key, statements: [try statement(other, otherNew)], topic: .app, at: start)
        let chain = [old] + (1..<StatementFile.capacity).map { _ in ProviderKey() }
        for (from, to) in zip(chain, chain.dropFirst()) {
            try keys.settle(openedWith: key, statements: [try statement(from, to)], topic: .app, at: start)
        }
        let last = try #require(chain.last)
        let more = try statement(last, ProviderKey())
        #expect(
            code { try keys.settle(openedWith: key, statements: [more], topic: .app, at: start) } == .rotationRefused)

        let request = try RecoveryRequest(by: recovery.publicKey, for: .app, to: good, serial: 7, at: start)
        let recovered = try request.signed(by: recovery).statement
        try keys.settle(openedWith: key, statements: [recovered], topic: .app, at: start)
        #expect(try keys.trust(for: .app).pinned == [good.publicKey, otherNew.publicKey])
        #expect(try file.statements(for: .app).map(\.statement.isRecovery) == [false, true])
        for stolen in chain {
            #expect(try keys.trust(for: .app).candidates(for: stolen.publicKey.id, at: start).isEmpty)
        }
        // What the recovery brings next has room, and what the thief signs has no effect.
        try keys.settle(openedWith: key, statements: [try statement(good, new)], topic: .app, at: start)
        #expect(
            code { try keys.settle(openedWith: key, statements: [more], topic: .app, at: start) } == .rotationRefused)

        let believed = try keys.trust(for: .app)
        #expect(try file.merge(into: store, at: start).changes.count == 3)
        #expect(try store.trust(for: .app) == believed && believed.pinned == [new.publicKey, otherNew.publicKey])
    }

    /// Fills the file with another sender's rotations, which a recovery does not replace. Returns a recovery of the pinned sender.
    private func fill(
        _ store: any DeviceKeyStore, _ keys: ExtensionKeys
    ) throws -> (opening: DevicePublicKey, good: ProviderKey, recovered: RotationStatement) {
        let (recovery, good) = (RecoveryKey(), ProviderKey())
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        let chain = (0...StatementFile.capacity).map { _ in ProviderKey() }
        try store.pinProvider(chain[0].publicKey, named: "other", topic: .app, at: start)
        let key = try active(store)
        for (from, to) in zip(chain, chain.dropFirst()) {
            try keys.settle(openedWith: key, statements: [try statement(from, to)], topic: .app, at: start)
        }
        let request = try RecoveryRequest(by: recovery.publicKey, for: .app, to: good, serial: 7, at: start)
        return (key, good, try request.signed(by: recovery).statement)
    }

    @Test func theRotationsOfAnotherSenderLeaveRoomForARecovery() throws {
        let (store, keys) = try home()
        let (key, good, recovered) = try fill(store, keys)
        try keys.settle(openedWith: key, statements: [recovered], topic: .app, at: start)
        #expect(try file.statements(for: .app).count == StatementFile.capacity + 1)
        #expect(try keys.trust(for: .app).pinned.contains(good.publicKey))
    }

    /// The rotation beside the recovery has no room, or is refused: the recovery is kept all the same.
    @Test(arguments: [true, false]) func aRecoveryIsKeptWhateverComesBesideIt(_ fits: Bool) throws {
        let (store, keys) = try home()
        let (key, good, recovered) = try fill(store, keys)
        let beside = try statement(fits ? good : ProviderKey(), ProviderKey())
        try keys.settle(openedWith: key, statements: [recovered, beside], topic: .app, at: start)
        #expect(try keys.trust(for: .app).pinned.contains(good.publicKey))
        #expect(try file.statements(for: .app).count == StatementFile.capacity + 1)
    }

    @Test func missingLockedAndCorruptReachTheReceiver() throws {
        let empty = ExtensionKeys(keys: try DeviceStoreKind.keychain.store(), statements: file)
        #expect(code { try empty.deviceKey(id: KeyID(value: 1), at: start) } == .storeMissing)
        #expect(code { try empty.trust(for: .app) } == .storeMissing)
    }

    // MARK: The app

    @Test(arguments: DeviceStoreKind.allCases)
    func theAppTakesEverythingInAndTheFileIsEmpty(_ kind: DeviceStoreKind) throws {
        let (store, keys) = try home(kind)
        let key = try pending(store)
        try keys.settle(openedWith: key, statements: [try statement(old, new)], topic: .app, at: start + 1)
        let believed = try keys.trust(for: .app)
        let merged = try file.merge(into: store, grace: .seconds(100), at: start + 5)
        #expect(merged.confirmed.map(\.publicKey) == [key])
        #expect(merged.changes == [.rotated(from: old.publicKey, to: new.publicKey)])
        #expect(merged.refused == 0 && merged.conflicts == 0)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
        #expect(try store.deviceKeys().first?.retiresAt == start + 105)
        #expect(try store.trust(for: .app) == believed && keys.trust(for: .app) == believed)
        #expect(try file.statements(for: .app).isEmpty)
        #expect(try file.merge(into: store, at: start + 6) == StatementFile.MergeResult())
    }

    @Test func foldingTwiceWhatWasNotRemovedChangesNothing() throws {
        let (store, keys) = try home()
        try keys.settle(
            openedWith: try pending(store), statements: [try statement(old, new)], topic: .app, at: start)
        let before = try readFile(path)
        _ = try file.merge(into: store, at: start)
        let records = (try store.deviceKeys(), try store.pinnedProviders())
        // As if the process had ended before it emptied the file.
        try writeFile(path, before)
        #expect(try file.merge(into: store, at: start + 9) == StatementFile.MergeResult())
        #expect(try store.deviceKeys() == records.0 && store.pinnedProviders() == records.1)
    }

    /// The app folds, and empties the file, just before or just after the extension reads the pins.
    @Test(arguments: [false, true])
    func whileTheAppTakesStatementsInTheExtensionNeverForgetsThem(_ isBefore: Bool) throws {
        let (store, keys) = try home()
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        let file = file
        let slow = Interrupted(keys: store, isBefore: isBefore) { _ = try? file.merge(into: store, at: start) }
        #expect(try ExtensionKeys(keys: slow, statements: file).trust(for: .app).pinned == [new.publicKey])
        #expect(try file.statements(for: .app).isEmpty)
    }

    private struct Interrupted: DeviceKeyReading {
        let keys: any DeviceKeyStore
        let isBefore: Bool
        let body: @Sendable () -> Void

        func deviceKey(id: KeyID, at now: Timestamp) throws(KeyStoreError) -> StoredDeviceKey? {
            try keys.deviceKey(id: id, at: now)
        }

        func trust(for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
            if isBefore { body() }
            defer { if !isBefore { body() } }
            return try keys.trust(for: topic)
        }

        func purgeRetiredDeviceKeys(
            at now: Timestamp, accepted sentAt: Timestamp
        ) throws(KeyStoreError) -> [DeviceKeyRecord] {
            try keys.purgeRetiredDeviceKeys(at: now, accepted: sentAt)
        }
    }

    @Test func statementsThatNoLongerFitAreDropped() throws {
        let (store, keys) = try home()
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        // After a theft the app has replaced the key that signed.
        try store.pinProvider(newest.publicKey, named: "provider", topic: .app, replace: true, at: start)
        #expect(try keys.trust(for: .app) == store.trust(for: .app))
        let merged = try file.merge(into: store, at: start)
        #expect(merged.refused == 1 && merged.changes.isEmpty)
        #expect(try store.trust(for: .app).pinned == [newest.publicKey])
        #expect(try file.statements(for: .app).isEmpty)
    }

    @Test func aContradictionIsReported() throws {
        let (store, keys) = try home()
        try keys.settle(
            openedWith: try active(store), statements: [try statement(old, newest)], topic: .app, at: start)
        _ = try store.acceptStatements([try statement(old, new)], topic: .app, at: start)
        #expect(try file.merge(into: store, at: start).conflicts == 1)
        #expect(try store.trust(for: .app).pinned == [new.publicKey])
    }

    @Test func whatALockedStoreDoesNotTakeStays() throws {
        let (store, keys) = try home(.disk)
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        let file = file
        let directory = try #require((store as? SQLiteKeyStore)?.directory)
        let home = try SQLiteKeyStore.open(in: directory.path, passphrase: nil, options: .impatient)
        let other = try SQLiteConnection(path: directory.file("keystore.db"), busyTimeout: 0)
        try other.execute("BEGIN IMMEDIATE")
        #expect(code { try file.merge(into: home, at: start) } == .storeBusy)
        try other.execute("ROLLBACK")
        #expect(try file.merge(into: home, at: start).changes.count == 1)
    }

    // MARK: Who can write the file

    @Test func whatIsPutIntoTheFileIsBelievedOnlyWhenAPinnedKeySignedIt() throws {
        let (store, keys) = try home()
        let trust = try store.trust(for: .app)
        let forged = [
            try statement(newest, new),  // signed by a key that is not pinned
            try RotationStatement(bytes: flipped(try statement(old, new).bytes, at: 60).span),
            try RotationStatement(bytes: flipped(try statement(old, new).bytes, at: 130).span),
            try RotationStatement(bytes: flipped(try statement(old, new).bytes, at: 20).span),
        ]
        try file.keep(openedWith: nil, statements: forged, topic: .app, at: start)
        try file.keep(openedWith: DeviceKey().publicKey, statements: [], topic: .app, at: start)
        try file.keep(openedWith: try active(store), statements: [], topic: .app, at: start)
        let records = try store.deviceKeys()
        #expect(try keys.trust(for: .app) == trust)
        #expect(try file.merge(into: store, at: start).refused == 4)
        #expect(try store.trust(for: .app) == trust && store.deviceKeys() == records)
    }

    private func flipped(_ bytes: Bytes, at index: Int) -> Bytes {
        var bytes = bytes
        bytes[index] ^= 1
        return bytes
    }

    @Test func aTimeFromTheFutureIsTheAppsTime() throws {
        let (store, _) = try home()
        try file.keep(
            openedWith: nil, statements: [try statement(old, new)], topic: .app, at: Timestamp(milliseconds: .max))
        #expect(try file.merge(into: store, at: start).changes.count == 1)
    }

    @Test func moreRowsThanTheFileMayHoldAreNotRead() throws {
        let (store, keys) = try home()
        try keys.settle(openedWith: try active(store), statements: [try statement(old, new)], topic: .app, at: start)
        try SQLiteConnection(path: path, busyTimeout: 0).execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO statements SELECT i, topic || i, statement, accepted FROM statements, n
            """)
        #expect(try file.merge(into: store, at: start).refused <= 2 * StatementFile.capacity)
    }
}
