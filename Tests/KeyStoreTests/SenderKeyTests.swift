import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's signing keys, their rotation, and what messages announce of it.
struct SenderKeyTests {
    private static let day: UInt64 = 86_400

    @Test(arguments: StoreKind.allCases)
    func aStoreHoldsAKeyForEachApp(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        #expect(code { try store.senderKey(named: nil) } == .unknownName)
        let first = try store.generateSenderKey(name: "one", topic: .app, now: start)
        let key = SenderKey()
        let second = try store.importSenderKey(key, name: "two", topic: .other, now: start + 1)
        #expect(first.generation == 1 && first.isDefault && first.topic?.bundleID == "com.example.app")
        #expect(first.createdAt == start && first.keyID == first.publicKey.id)
        #expect(!second.isDefault && second.publicKey == key.publicKey)
        #expect(try store.senderKeys() == [first, second])
        #expect(try store.senderKey(named: nil).record == first)
        #expect(try store.senderKey(named: "two").key.seed == key.seed)
        #expect(code { try store.generateSenderKey(name: "one", now: start) } == .nameTaken)
        try store.setDefaultSenderKey(name: "two")
        #expect(try store.senderKey(named: nil).record.publicKey == key.publicKey)
        #expect(try store.senderKeys().map(\.isDefault) == [false, true])
        #expect(code { try store.setDefaultSenderKey(name: "three") } == .unknownName)
    }

    @Test(arguments: StoreKind.allCases)
    func aRotationGivesTheNameANewKeyAndAStatementThatDevicesBelieve(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let old = try store.generateSenderKey(name: "one", topic: .app, now: start)
        let (new, statement) = try store.rotateSenderKey(now: start + 10)
        #expect(new.name == "one" && new.topic == old.topic && new.generation == 2 && new.isDefault)
        #expect(new.publicKey != old.publicKey && new.createdAt == start + 10)
        #expect(try store.senderKeys() == [new])
        #expect(try store.senderKey(named: "one").key.publicKey == new.publicKey)
        #expect(statement.issuedAt == start + 10 && statement.overlap == 2_678_400 && statement.acceptFor == 34_560_000)
        var trust = SenderTrust(pinned: [old.publicKey])
        #expect(try trust.accept(statement, at: start + 10) == .rotated(from: old.publicKey, to: new.publicKey))
    }

    @Test func theParametersReachTheStatement() throws {
        let store = try Home(.memory).store
        _ = try store.generateSenderKey(now: start)
        let statement = try store.rotateSenderKey(overlap: 5_184_000, acceptFor: 77, now: start).statement
        #expect(statement.overlap == 5_184_000 && statement.acceptFor == 77)
        let before = try store.senderKeys()
        #expect(code { try store.rotateSenderKey(overlap: 5_184_001, now: start) } == .rotationRefused)
        #expect(try store.senderKeys() == before, "a refused rotation changes nothing")
    }

    // MARK: What messages carry

    /// A store whose only name has rotated on the given days.
    private func rotated(_ kind: StoreKind = .memory, onDays days: [UInt64]) throws -> Rotations {
        let store = try Home(kind).store
        var rotations = Rotations(store: store, keys: [try store.generateSenderKey(now: start).publicKey])
        for day in days {
            let (record, statement) = try store.rotateSenderKey(force: true, now: start + day * Self.day)
            rotations.keys.append(record.publicKey)
            rotations.statements.append(statement)
        }
        return rotations
    }

    private struct Rotations {
        let store: SQLiteKeyStore
        var keys: [SenderPublicKey]
        var statements: [RotationStatement] = []

        func announced(to pinned: Int?, day: UInt64) throws -> [Int] {
            let now = start + day * SenderKeyTests.day
            return try announced(to: pinned, now: now)
        }

        func announced(to pinned: Int?, now: Timestamp) throws -> [Int] {
            let pinned = pinned.map { keys[$0] }
            let found = try store.announcements(for: keys[keys.count - 1], to: pinned, now: now)
            return found.compactMap(statements.firstIndex(of:))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aMessageCarriesEveryAnnouncedRotationOldestFirst(_ kind: StoreKind) throws {
        #expect(try rotated(kind, onDays: []).announced(to: nil, day: 0) == [])
        #expect(try rotated(kind, onDays: [1]).announced(to: nil, day: 1) == [0])
        #expect(try rotated(kind, onDays: [1, 20, 40]).announced(to: nil, day: 40) == [0, 1, 2])
    }

    @Test func aRotationIsAnnouncedForSixtyDaysToTheMillisecond() throws {
        let rotations = try rotated(onDays: [0])
        let end = start + 60 * Self.day
        #expect(try rotations.announced(to: nil, now: end) == [0])
        #expect(try rotations.announced(to: nil, now: end.next) == [])
    }

    @Test func anOlderRotationIsNotAnnouncedWithoutThoseAfterIt() throws {
        let store = try Home(.memory).store
        let first = try store.generateSenderKey(now: start).publicKey
        _ = try store.rotateSenderKey(announceSeconds: 100 * Self.day, now: start)
        let last = try store.rotateSenderKey(announceSeconds: Self.day, now: start + 1)
        let now = start + 2 * Self.day
        #expect(try store.announcements(for: last.record.publicKey, to: nil, now: now).isEmpty)
        #expect(try store.announcements(for: last.record.publicKey, to: first, now: now).count == 2)
    }

    @Test func aMessageCarriesTheNewestFour() throws {
        #expect(try rotated(onDays: [1, 2, 3, 4, 5, 6]).announced(to: nil, day: 6) == [2, 3, 4, 5])
        #expect(try rotated(onDays: [1, 2, 3, 4, 5, 6]).announced(to: 0, day: 6) == [2, 3, 4, 5])
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceIsToldWhatItHasNotReported(_ kind: StoreKind) throws {
        let rotations = try rotated(kind, onDays: [1, 2, 3])
        #expect(try rotations.announced(to: 3, day: 3) == [], "it has the current key")
        #expect(try rotations.announced(to: 2, day: 3) == [2])
        #expect(try rotations.announced(to: 1, day: 3) == [1, 2])
        #expect(try rotations.announced(to: 0, day: 3) == [0, 1, 2])
        let stranger = SenderKey().publicKey
        #expect(
            try rotations.store.announcements(for: rotations.keys[3], to: stranger, now: start + 3 * Self.day).count
                == 3)
    }

    @Test func aDeviceThatReportedAnOldKeyIsToldAsLongAsItAccepts() throws {
        let rotations = try rotated(onDays: [0])
        let end = start + 400 * Self.day
        #expect(try rotations.announced(to: 0, now: end) == [0])
        #expect(try rotations.announced(to: 0, now: end.next) == [])
        #expect(try rotations.announced(to: nil, now: end) == [])
    }

    @Test func aKeyIsAnnouncedByItsOwnRotationsOnly() throws {
        let store = try Home(.memory).store
        _ = try store.generateSenderKey(name: "one", now: start)
        let other = try store.generateSenderKey(name: "two", now: start)
        _ = try store.rotateSenderKey(name: "one", now: start)
        #expect(try store.announcements(for: other.publicKey, to: nil, now: start).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aFifthRotationWaitsUnlessItIsForced(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        _ = try store.generateSenderKey(now: start)
        for day in 0..<4 as Range<UInt64> { _ = try store.rotateSenderKey(now: start + day * Self.day) }
        let before = try store.senderKeys()
        #expect(code { try store.rotateSenderKey(now: start + 5 * Self.day) } == .tooManyAnnouncements)
        #expect(try store.senderKeys() == before)
        #expect(code { try store.rotateSenderKey(now: start + 60 * Self.day) } == .tooManyAnnouncements)
        #expect(try store.rotateSenderKey(now: (start + 60 * Self.day).next).record.generation == 6)
        #expect(try store.rotateSenderKey(force: true, now: start + 61 * Self.day).record.generation == 7)
    }

    @Test func whatNobodyAcceptsAnyMoreIsForgotten() throws {
        let home = try Home()
        _ = try home.store.generateSenderKey(now: start)
        let statement = try home.store.rotateSenderKey(now: start).statement
        _ = try home.store.rotateSenderKey(now: start + 400 * Self.day)
        #expect(try home.raw().integer("SELECT count(*) FROM announcements") == 2)
        _ = try home.store.rotateSenderKey(now: start + 401 * Self.day)
        #expect(
            try home.raw().rows("SELECT * FROM announcements WHERE statement = ?", [.blob(statement.bytes)]).isEmpty)
    }

    @Test func aNameOrAnIDThatIsNotAllowedIsRefused() throws {
        let store = try Home(.memory).store
        for name in ["", "line\nbreak", String(repeating: "x", count: 256)] {
            #expect(code { try store.generateSenderKey(name: name, now: start) } == .invalidName)
            #expect(code { try store.importSenderKey(SenderKey(), name: name, now: start) } == .invalidName)
        }
        let sender = SenderKey()
        _ = try store.importSenderKey(sender, name: "one", now: start)
        #expect(code { try store.importSenderKey(sender, name: "two", now: start) } == .keyIDTaken)
    }
}
