import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Whom a device believes: pins, rotations, replacement after a theft.
struct TrustTests {
    private typealias State = PinnedProviderRecord.State

    private let old = ProviderKey()
    private let new = ProviderKey()
    private let newest = ProviderKey()

    private func statement(
        from old: ProviderKey, to new: ProviderKey, issuedAt: Timestamp = start, overlap: UInt64 = 60
    ) throws -> RotationStatement {
        try RotationStatement(from: old, to: new, at: issuedAt, overlap: .seconds(overlap))
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aPinnedSenderIsBelieved(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        #expect(try store.pinnedProviders().isEmpty)
        #expect(try store.pinProvider(old.publicKey, named: "provider", at: start) == .added)
        #expect(try store.pinProvider(old.publicKey, named: "provider", at: start + 1) == .unchanged)
        let sender = ProviderTrust.Sender(name: "provider", pinned: old.publicKey)
        #expect(try store.trust(for: .app) == ProviderTrust([sender]))
        let record = try #require(try store.pinnedProviders().first)
        #expect(record.name == "provider" && record.key == old.publicKey && record.topic == nil)
        #expect(record.state == .pinned && record.verifiesUntil == nil && record.createdAt == start)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aSenderOfOneAppIsNotBelievedForAnother(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "one", topic: .app, at: start)
        _ = try store.pinProvider(new.publicKey, named: "two", topic: .other, at: start)
        _ = try store.pinProvider(newest.publicKey, named: "all", at: start)
        #expect(try store.trust(for: .app).pinned == [old.publicKey, newest.publicKey])
        #expect(try store.trust(for: .other).pinned == [new.publicKey, newest.publicKey])
        #expect(try store.trust(for: Topic("com.example.third")).pinned == [newest.publicKey])
        #expect(code { try store.pinProvider(old.publicKey, named: "one", topic: .other, at: start) } == .topicMismatch)
        #expect(try store.pinProvider(old.publicKey, named: "one", topic: .other, replace: true, at: start) == .updated)
        #expect(try store.trust(for: .app).pinned == [newest.publicKey])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func oneKeyUnderTwoNamesIsTriedOnce(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "one", topic: .app, at: start)
        _ = try store.pinProvider(old.publicKey, named: "all", at: start)
        #expect(try store.trust(for: .app).pinned == [old.publicKey])
    }

    // MARK: Rotation

    @Test(arguments: DeviceStoreKind.allCases)
    func anAcceptedStatementMovesThePin(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", topic: .app, at: start)
        let statement = try statement(from: old, to: new)
        let changes = try store.acceptStatements([statement], topic: .app, at: start + 5)
        #expect(changes == [.rotated(from: old.publicKey, to: new.publicKey)])
        let records = try store.pinnedProviders()
        #expect(records.map(\.state) == [.superseded, .pinned])
        #expect(records.map(\.key) == [old.publicKey, new.publicKey])
        #expect(records.map(\.name) == ["provider", "provider"])
        #expect(records.map(\.verifiesUntil) == [start + 60, nil])
        #expect(records[1].topic?.bundleID == "com.example.app" && records[1].createdAt == start + 5)
        let trust = try store.trust(for: .app)
        #expect(trust.candidates(for: old.id, at: start + 60) == [old.publicKey])
        #expect(trust.candidates(for: old.id, at: (start + 60).next) == [])
        #expect(try store.acceptStatements([statement], topic: .app, at: start + 9) == [.unchanged])
        #expect(try store.pinnedProviders() == records)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aChainIsAcceptedInOneGo(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        let chain = [try statement(from: old, to: new), try statement(from: new, to: newest)]
        #expect(try store.acceptStatements(chain, topic: .app, at: start).count == 2)
        #expect(try store.trust(for: .app).pinned == [newest.publicKey])
        #expect(try store.trust(for: .app).superseded.map(\.key) == [old.publicKey, new.publicKey])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRefusedStatementChangesNothingNotEvenTheOneBeforeIt(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        let before = try store.pinnedProviders()
        let bad = [try statement(from: old, to: new), try statement(from: newest, to: ProviderKey())]
        #expect(code { try store.acceptStatements(bad, topic: .app, at: start) } == .rotationRefused)
        #expect(try store.pinnedProviders() == before)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aSecondStatementOfASupersededKeyIsAConflict(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        _ = try store.acceptStatements([try statement(from: old, to: new)], topic: .app, at: start)
        let before = try store.pinnedProviders()
        let thief = try statement(from: old, to: newest)
        #expect(code { try store.acceptStatements([thief], topic: .app, at: start) } == .rotationConflict)
        #expect(try store.pinnedProviders() == before)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aStatementReachesEveryNameThatItsAppBelieves(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "app", topic: .app, at: start)
        _ = try store.pinProvider(old.publicKey, named: "all", at: start)
        _ = try store.pinProvider(old.publicKey, named: "other", topic: .other, at: start)
        _ = try store.acceptStatements([try statement(from: old, to: new)], topic: .app, at: start)
        #expect(try store.trust(for: .app).pinned == [new.publicKey])
        #expect(Set(try store.trust(for: .other).pinned) == [old.publicKey, new.publicKey])
    }

    // MARK: Theft

    @Test(arguments: DeviceStoreKind.allCases)
    func anotherKeyUnderTheSameNameNeedsReplace(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        #expect(code { try store.pinProvider(new.publicKey, named: "provider", at: start) } == .providerAlreadyPinned)
        #expect(try store.trust(for: .app).pinned == [old.publicKey])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func afterAReplacementNothingOfTheOldKeysIsBelieved(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", topic: .app, at: start)
        let first = try statement(from: old, to: new)
        _ = try store.acceptStatements([first], topic: .app, at: start)
        _ = try store.pinProvider(newest.publicKey, named: "provider", topic: .app, replace: true, at: start + 1)
        let trust = try store.trust(for: .app)
        #expect(trust.pinned == [newest.publicKey])
        for stolen in [old, new] {
            #expect(trust.candidates(for: stolen.id, at: start + 1) == [], "messages of a stolen key")
            #expect(code { try store.pinProvider(stolen.publicKey, named: "x", at: start) } == .senderSuperseded)
            let thief = try statement(from: stolen, to: ProviderKey())
            #expect(code { try store.acceptStatements([thief], topic: .app, at: start) } == .rotationRefused)
            let back = try statement(from: newest, to: stolen)
            #expect(code { try store.acceptStatements([back], topic: .app, at: start) } == .rotationRefused)
        }
        #expect(code { try store.acceptStatements([first], topic: .app, at: start) } == .rotationRefused)
        #expect(try store.trust(for: .app) == trust)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRemovedSenderIsNotBelievedNeitherAreItsOlderKeys(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        _ = try store.acceptStatements([try statement(from: old, to: new)], topic: .app, at: start)
        #expect(try store.unpinProvider(named: "provider"))
        #expect(try !store.unpinProvider(named: "provider"))
        #expect(try !store.unpinProvider(named: "nobody"))
        let trust = try store.trust(for: .app)
        #expect(trust.pinned.isEmpty)
        #expect(trust.candidates(for: old.id, at: start).isEmpty && trust.candidates(for: new.id, at: start).isEmpty)
        #expect(code { try store.pinProvider(old.publicKey, named: "provider", at: start) } == .senderSuperseded)
        #expect(try store.pinProvider(new.publicKey, named: "provider", at: start) == .added)
    }

    // MARK: Settling a message

    @Test(arguments: DeviceStoreKind.allCases)
    func aMessageSettlesItsKeyAndItsStatementsTogether(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        let pending = try store.rotateDeviceKey(at: start)
        _ = try store.pinProvider(old.publicKey, named: "provider", at: start)
        let statement = try statement(from: old, to: new)
        try store.settle(openedWith: pending.publicKey, statements: [statement], topic: .app, at: start)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
        #expect(try store.trust(for: .app).pinned == [new.publicKey])
        try store.settle(openedWith: pending.publicKey, statements: [statement], topic: .app, at: start)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aStatementThatIsRefusedKeepsTheKeyFromSettlingToo(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        let pending = try store.rotateDeviceKey(at: start)
        let statement = try statement(from: old, to: new)
        #expect(
            code {
                try store.settle(openedWith: pending.publicKey, statements: [statement], topic: .app, at: start)
            } == .rotationRefused)
        #expect(try store.deviceKeys().map(\.state) == [.active, .pending])
    }
}
