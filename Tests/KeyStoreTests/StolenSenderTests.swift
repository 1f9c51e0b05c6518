import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// After a theft, nothing that the thief's key signs is believed.
@Suite struct StolenSenderTests {
    private let now = Timestamp(milliseconds: 1_700_000_000_000)

    @Test(
        "A stolen key that is replaced under one name is believed under no other name and for no other app",
        arguments: DeviceStoreKind.allCases)
    func replacedUnderOneName(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let (first, second) = (try Topic("com.example.first"), try Topic("com.example.second"))
        let (stolen, good, bystander) = (ProviderKey().publicKey, ProviderKey().publicKey, ProviderKey().publicKey)
        try store.pinProvider(stolen, named: "first", topic: first, at: now)
        try store.pinProvider(stolen, named: "second", topic: second, at: now)
        try store.pinProvider(stolen, named: "all", at: now)
        try store.pinProvider(bystander, named: "bystander", topic: second, at: now)

        try store.pinProvider(good, named: "first", topic: first, replace: true, at: now)

        #expect(try store.trust(for: first).candidates(for: stolen.id, at: now).isEmpty)
        #expect(try store.trust(for: second).candidates(for: stolen.id, at: now).isEmpty)
        #expect(try store.trust(for: first).pinned == [good])
        #expect(try store.trust(for: second).pinned == [bystander])
    }

    @Test(
        "A key from before the stolen one, still inside its overlap under another name, is not believed either",
        arguments: DeviceStoreKind.allCases)
    func overlapUnderAnotherName(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let topic = try Topic("com.example.app")
        let (old, stolen, good) = (ProviderKey(), ProviderKey(), ProviderKey().publicKey)
        try store.pinProvider(old.publicKey, named: "first", topic: topic, at: now)
        try store.pinProvider(old.publicKey, named: "second", topic: topic, at: now)
        let statement = try RotationStatement(from: old, to: stolen, at: now)
        _ = try store.acceptStatements([statement], topic: topic, at: now)
        #expect(try store.trust(for: topic).candidates(for: old.id, at: now).contains(old.publicKey))

        try store.pinProvider(good, named: "first", topic: topic, replace: true, at: now)

        let trust = try store.trust(for: topic)
        #expect(trust.candidates(for: old.id, at: now).isEmpty)
        #expect(trust.candidates(for: stolen.id, at: now).isEmpty)
        #expect(trust.pinned == [good])
    }

    @Test(
        "A stolen key that was superseded already is believed no longer when the pinned key is given once more",
        arguments: DeviceStoreKind.allCases)
    func replacedByThePinnedKey(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let topic = try Topic("com.example.app")
        let (stolen, good) = (ProviderKey(), ProviderKey())
        try store.pinProvider(stolen.publicKey, named: "provider", topic: topic, at: now)
        try store.pinProvider(stolen.publicKey, named: "another", topic: topic, at: now)
        let statement = try RotationStatement(from: stolen, to: good, at: now, overlap: .days(60))
        _ = try store.acceptStatements([statement], topic: topic, at: now)
        func candidates() throws -> [ProviderPublicKey] {
            try store.trust(for: topic).candidates(for: stolen.id, at: now)
        }
        #expect(try candidates().contains(stolen.publicKey))
        // Without `replace`, the same key again changes nothing.
        #expect(try store.pinProvider(good.publicKey, named: "provider", topic: topic, at: now) == .unchanged)
        #expect(try candidates().contains(stolen.publicKey))

        let outcome = try store.pinProvider(good.publicKey, named: "provider", topic: topic, replace: true, at: now)

        #expect(outcome == .updated)
        #expect(try candidates().isEmpty)
        #expect(try store.trust(for: topic).pinned == [good.publicKey])
        #expect(
            try store.pinProvider(good.publicKey, named: "provider", topic: topic, replace: true, at: now) == .unchanged
        )
        #expect(code { try store.pinProvider(stolen.publicKey, named: "third", at: now) } == .senderSuperseded)
    }

    @Test("Replacing a pin names the keys that it ends")
    func endedKeysAreNamed() throws {
        let store = try Home(.memory).store
        let topic = try Topic("com.example.app")
        let (old, stolen, good) = (ProviderKey(), ProviderKey(), ProviderKey())
        try store.pinProvider(old.publicKey, named: "provider", topic: topic, at: now)
        _ = try store.acceptStatements([RotationStatement(from: old, to: stolen, at: now)], topic: topic, at: now)
        func pin(at time: Timestamp) throws -> Set<KeyID> {
            Set(
                try store.pinProvider(good.publicKey, named: "provider", topic: topic, replace: true, at: time)
                    .map(\.key.id))
        }
        #expect(try pin(at: now) == [old.id, stolen.id])
        #expect(try pin(at: now) == [])
    }

    @Test("A key that was superseded for every app does not stay pinned for one", arguments: DeviceStoreKind.allCases)
    func supersededForEveryApp(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let (first, second) = (try Topic("com.example.first"), try Topic("com.example.second"))
        let (old, new, thief) = (ProviderKey(), ProviderKey(), ProviderKey())
        try store.pinProvider(old.publicKey, named: "all", at: now)
        try store.pinProvider(old.publicKey, named: "second", topic: second, at: now)
        let statement = try RotationStatement(from: old, to: new, at: now)
        _ = try store.acceptStatements([statement], topic: first, at: now)

        _ = try store.acceptStatements([statement], topic: second, at: now)

        #expect(try store.trust(for: second).pinned == [new.publicKey])
        let afterOverlap = statement.overlapEnd.adding(milliseconds: 1)
        #expect(try store.trust(for: second).candidates(for: old.id, at: afterOverlap).isEmpty)
        let other = try RotationStatement(from: old, to: thief, at: now)
        #expect(throws: KeyStoreError(.rotationConflict, "")) {
            try store.acceptStatements([other], topic: second, at: now)
        }
    }
}
