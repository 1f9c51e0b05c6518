import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's signing keys, their rotation, and what messages announce of it.
struct ProviderKeyTests {
    private static let day: UInt64 = 86_400

    @Test(arguments: StoreKind.allCases)
    func aStoreHoldsAKeyForEachApp(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        #expect(code { try store.providerKey(named: nil) } == .unknownName)
        let first = try store.generateProviderKey(named: "one", topic: .app, at: start)
        let key = ProviderKey()
        let second = try store.importProviderKey(key, named: "two", topic: .other, at: start + 1)
        #expect(first.generation == 1 && first.isDefault && first.topic?.bundleID == "com.example.app")
        #expect(first.createdAt == start && first.keyID == first.publicKey.id)
        #expect(!second.isDefault && second.publicKey == key.publicKey)
        #expect(try store.providerKeys() == [first, second])
        #expect(try store.providerKey(named: nil).record == first)
        #expect(try store.providerKey(named: "two").key.seed == key.seed)
        #expect(code { try store.generateProviderKey(named: "one", at: start) } == .nameTaken)
        try store.setDefaultProviderKey(named: "two")
        #expect(try store.providerKey(named: nil).record.publicKey == key.publicKey)
        #expect(try store.providerKeys().map(\.isDefault) == [false, true])
        #expect(code { try store.setDefaultProviderKey(named: "three") } == .unknownName)
    }

    @Test(arguments: StoreKind.allCases)
    func aRotationGivesTheNameANewKeyAndAStatementThatDevicesBelieve(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let old = try store.generateProviderKey(named: "one", topic: .app, at: start)
        let rotation = try store.rotateProviderKey(at: start + 10)
        let (new, statement) = (rotation.record, rotation.statement)
        #expect(new.name == "one" && new.topic == old.topic && new.generation == 2 && new.isDefault)
        #expect(new.publicKey != old.publicKey && new.createdAt == start + 10)
        #expect(try store.providerKeys() == [new])
        #expect(try store.providerKey(named: "one").key.publicKey == new.publicKey)
        #expect(statement.issuedAt == start + 10 && statement.overlap == .days(31) && statement.acceptFor == .days(400))
        var trust = ProviderTrust(pinned: [old.publicKey])
        #expect(
            try trust.accept(statement, for: .app, at: start + 10) == .rotated(from: old.publicKey, to: new.publicKey))
    }

    @Test func theParametersReachTheStatement() throws {
        let store = try Home(.memory).store
        _ = try store.generateProviderKey(at: start)
        let statement = try store.rotateProviderKey(overlap: .seconds(5_184_000), acceptFor: .seconds(77), at: start)
            .statement
        #expect(statement.overlap == .days(60) && statement.acceptFor == .seconds(77))
        let before = try store.providerKeys()
        #expect(code { try store.rotateProviderKey(overlap: .seconds(5_184_001), at: start) } == .rotationRefused)
        #expect(try store.providerKeys() == before, "a refused rotation changes nothing")
    }

    // MARK: Announcements

    /// A store whose only name has rotated on the given days.
    private func rotated(_ kind: StoreKind = .memory, onDays days: [UInt64]) throws -> Rotations {
        let store = try Home(kind).store
        var rotations = Rotations(store: store, keys: [try store.generateProviderKey(at: start).publicKey])
        for day in days {
            let rotation = try store.rotateProviderKey(force: true, clock: .confirmed, at: start + day * Self.day)
            rotations.keys.append(rotation.record.publicKey)
            rotations.statements.append(rotation.statement)
        }
        return rotations
    }

    private struct Rotations {
        let store: SQLiteKeyStore
        var keys: [ProviderPublicKey]
        var statements: [RotationStatement] = []

        func announced(to pinned: Int?, day: UInt64) throws -> [Int] {
            let now = start + day * ProviderKeyTests.day
            return try announced(to: pinned, now: now)
        }

        func announced(to pinned: Int?, now: Timestamp) throws -> [Int] {
            let pinned = pinned.map { keys[$0] }
            let found = try store.announcements(for: keys[keys.count - 1], to: pinned, at: now)
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
        let first = try store.generateProviderKey(at: start).publicKey
        _ = try store.rotateProviderKey(announceFor: .seconds(100 * Self.day), at: start)
        let last = try store.rotateProviderKey(announceFor: .seconds(Self.day), at: start + 1)
        let now = start + 2 * Self.day
        #expect(try store.announcements(for: last.record.publicKey, to: nil, at: now).isEmpty)
        #expect(try store.announcements(for: last.record.publicKey, to: first, at: now).count == 2)
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
        let stranger = ProviderKey().publicKey
        #expect(
            try rotations.store.announcements(for: rotations.keys[3], to: stranger, at: start + 3 * Self.day).count
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
        _ = try store.generateProviderKey(named: "one", at: start)
        let other = try store.generateProviderKey(named: "two", at: start)
        _ = try store.rotateProviderKey(named: "one", at: start)
        #expect(try store.announcements(for: other.publicKey, to: nil, at: start).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aFifthRotationWaitsUnlessItIsForced(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        _ = try store.generateProviderKey(at: start)
        for day in 0..<4 as Range<UInt64> { _ = try store.rotateProviderKey(at: start + day * Self.day) }
        let before = try store.providerKeys()
        #expect(code { try store.rotateProviderKey(at: start + 5 * Self.day) } == .tooManyAnnouncements)
        #expect(try store.providerKeys() == before)
        #expect(
            code { try store.rotateProviderKey(clock: .confirmed, at: start + 60 * Self.day) } == .tooManyAnnouncements)
        #expect(try store.rotateProviderKey(clock: .confirmed, at: (start + 60 * Self.day).next).record.generation == 6)
        #expect(try store.rotateProviderKey(force: true, at: start + 61 * Self.day).record.generation == 7)
    }

    @Test func whatNobodyAcceptsAnyMoreIsForgotten() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        let statement = try home.store.rotateProviderKey(at: start).statement
        _ = try home.store.rotateProviderKey(clock: .confirmed, at: start + 400 * Self.day)
        #expect(try home.raw().integer("SELECT count(*) FROM announcements") == 2)
        _ = try home.store.rotateProviderKey(clock: .confirmed, at: start + 401 * Self.day)
        #expect(
            try home.raw().rows("SELECT * FROM announcements WHERE statement = ?", [.blob(statement.bytes)]).isEmpty)
    }

    @Test func aNameOrAnIDThatIsNotAllowedIsRefused() throws {
        let store = try Home(.memory).store
        for name in ["", "line\nbreak", String(repeating: "x", count: 256)] {
            #expect(code { try store.generateProviderKey(named: name, at: start) } == .invalidName)
            #expect(code { try store.importProviderKey(ProviderKey(), named: name, at: start) } == .invalidName)
        }
        let sender = ProviderKey()
        _ = try store.importProviderKey(sender, named: "one", at: start)
        #expect(code { try store.importProviderKey(sender, named: "two", at: start) } == .keyIDTaken)
    }
}
