import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The life of a device key, with its exact boundaries.
struct DeviceKeyRotationTests {
    private typealias State = DeviceKeyRecord.State

    @Test(arguments: DeviceStoreKind.allCases)
    func aPendingKeyOpensBeforeTheProviderHearsOfIt(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let active = try store.generateDeviceKey(topic: .app, at: start)
        let pending = try store.rotateDeviceKey(at: start + 10)
        #expect(pending.state == .pending)
        #expect(pending.generation == 2)
        #expect(pending.topic == active.topic && pending.name == active.name)
        #expect(pending.createdAt == start + 10)
        #expect(pending.publicKey != active.publicKey)
        #expect(try store.deviceKeys().map(\.state) == [.active, .pending])
        for record in [active, pending] {
            #expect(try store.deviceKey(id: record.keyID, at: start + 10)?.key.publicKey == record.publicKey)
        }
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aLostReplyIsAnsweredByRotatingAgain(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        let pending = try store.rotateDeviceKey(at: start + 10)
        #expect(try store.rotateDeviceKey(at: start + 999) == pending)
        #expect(try store.deviceKeys().count == 2)
    }

    /// The provider acknowledged the second key twice; the third it has never heard of.
    @Test(arguments: DeviceStoreKind.allCases)
    func anOldReplyThatComesAgainConfirmsNothing(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        let second = try store.rotateDeviceKey(at: start)
        #expect(try store.confirmDeviceKey(acknowledged: second.keyID, at: start)?.publicKey == second.publicKey)
        let third = try store.rotateDeviceKey(at: start + 1)
        #expect(try store.confirmDeviceKey(acknowledged: second.keyID, at: start + 2) == nil)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active, .pending])
        #expect(try store.confirmDeviceKey(acknowledged: third.keyID, at: start + 3)?.publicKey == third.publicKey)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aConfirmedKeyIsActiveAndTheOldOneRetires(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let old = try store.generateDeviceKey(at: start)
        let new = try store.rotateDeviceKey(at: start)
        let confirmed = try #require(try store.confirmDeviceKey(grace: .seconds(60), at: start + 10))
        #expect(confirmed.publicKey == new.publicKey && confirmed.state == .active && confirmed.retiresAt == nil)
        let records = try store.deviceKeys()
        #expect(records.map(\.publicKey) == [old.publicKey, new.publicKey])
        #expect(records.map(\.state) == [.retiring, .active])
        #expect(records[0].retiresAt == start + 70)
        #expect(try store.confirmDeviceKey(grace: .seconds(60), at: start + 20) == nil, "nothing is pending any more")
        #expect(try store.deviceKeys() == records)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRetiringKeyOpensUpToItsEndDateAndNoLonger(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let old = try store.generateDeviceKey(at: start)
        _ = try store.rotateDeviceKey(at: start)
        _ = try store.confirmDeviceKey(grace: .seconds(60), at: start)
        let end = start + 60
        #expect(try store.deviceKey(id: old.keyID, at: end) != nil)
        #expect(try store.deviceKey(id: old.keyID, at: end.next) == nil)
        #expect(try store.purgeRetiredDeviceKeys(at: end).isEmpty)
        #expect(try store.deviceKeys().count == 2)
        let purged = try store.purgeRetiredDeviceKeys(at: end.next)
        #expect(purged.map(\.publicKey) == [old.publicKey])
        #expect(try store.deviceKeys().count == 1)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func anExtensionDeletesTheKeysThatEndedADayBeforeNowAndBeforeTheMessage(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        for name in ["anna", "ben"] {
            _ = try store.generateDeviceKey(named: name, at: start)
            _ = try store.rotateDeviceKey(named: name, at: start)
            _ = try store.confirmDeviceKey(named: name, grace: .seconds(60), at: start)
            _ = try store.rotateDeviceKey(named: name, at: start)
        }
        let (end, late) = (start + 60 + 86_400, start + 9_999_999)
        for (now, sentAt) in [(end, late), (late, end), (end, end), (late, start)] {
            #expect(try store.purgeRetiredDeviceKeys(at: now, accepted: sentAt).isEmpty, "one clock is not enough")
        }
        #expect(try store.deviceKeys().count == 6)
        #expect(try store.purgeRetiredDeviceKeys(at: late, accepted: end.next).map(\.name) == ["anna", "ben"])
        #expect(try store.deviceKeys().map(\.state) == [.active, .pending, .active, .pending])
        #expect(try store.purgeRetiredDeviceKeys(at: end.next, accepted: late).isEmpty)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func theStandardGraceOutlivesTheLongestTimeToLive(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let old = try store.generateDeviceKey(at: start)
        _ = try store.rotateDeviceKey(at: start)
        _ = try store.confirmDeviceKey(at: start)
        let lastMessage = start + Freshness.maximumTimeToLive.seconds
        #expect(try store.deviceKey(id: old.keyID, at: lastMessage) != nil)
        #expect(SQLiteKeyStore.standardGrace == .days(31))
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aGraceBeyondTheEndOfTimeStaysAtTheEndOfTime(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let old = try store.generateDeviceKey(at: start)
        _ = try store.rotateDeviceKey(at: start)
        _ = try store.confirmDeviceKey(grace: .seconds(.max), at: start)
        #expect(try store.deviceKeys().first?.retiresAt?.milliseconds == .max)
        #expect(try store.deviceKey(id: old.keyID, at: Timestamp(milliseconds: .max)) != nil)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aKeyMayRotateWhileAnotherStillRetires(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        for day in 1...3 as ClosedRange<UInt64> {
            let now = start + day * 86_400
            #expect(try store.rotateDeviceKey(at: now).generation == day + 1)
            _ = try store.confirmDeviceKey(at: now)
        }
        let records = try store.deviceKeys()
        #expect(records.map(\.state) == [.retiring, .retiring, .retiring, .active])
        #expect(records.map(\.generation) == [1, 2, 3, 4])
        #expect(records.compactMap(\.retiresAt) == (1...3).map { start + $0 * 86_400 + 31 * 86_400 })
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func logOutDeletesEveryKeyOfTheName(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(named: "one", at: start)
        _ = try store.rotateDeviceKey(named: "one", at: start)
        let other = try store.generateDeviceKey(named: "two", at: start)
        #expect(
            try store.purgeDeviceKeys(named: "one").map(\.state) == [.active, .pending])
        #expect(try store.deviceKeys().map(\.publicKey) == [other.publicKey])
        #expect(
            try store.purgeDeviceKeys(named: "one").isEmpty, "a log-out can be repeated")
        #expect(try store.generateDeviceKey(named: "one", at: start).generation == 1)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func whatAnEarlierInstallationLeftIsDeletedWhole(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let (old, new) = (ProviderKey(), ProviderKey())
        for name in ["one", "two"] { _ = try store.generateDeviceKey(named: name, at: start) }
        _ = try store.rotateDeviceKey(named: "one", at: start)
        try store.pinProvider(old.publicKey, at: start)
        try store.pinProvider(new.publicKey, at: start)
        try store.purgeEverything()
        #expect(try store.deviceKeys().isEmpty && store.pinnedProviders().isEmpty)
        try store.purgeEverything()
        let record = try store.generateDeviceKey(named: "two", at: start)
        #expect(record.isDefault && record.generation == 1)
        #expect(try store.pinProvider(old.publicKey, at: start) == .added)
    }

    // MARK: The first message

    @Test(arguments: DeviceStoreKind.allCases)
    func theFirstMessageUnderAPendingKeyConfirmsIt(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(at: start)
        let pending = try store.rotateDeviceKey(at: start)
        try store.settle(
            openedWith: pending.publicKey, provider: OneProvider.key.publicKey, certificate: nil, topic: .app,
            grace: .seconds(60), at: start + 5)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
        #expect(try store.deviceKeys().first?.retiresAt == start + 65)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aMessageUnderAnyOtherKeyConfirmsNothing(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let active = try store.generateDeviceKey(at: start)
        _ = try store.rotateDeviceKey(at: start)
        let before = try store.deviceKeys()
        try store.settle(
            openedWith: active.publicKey, provider: OneProvider.key.publicKey, certificate: nil, topic: .app, at: start)
        try store.settle(
            openedWith: DeviceKey().publicKey, provider: OneProvider.key.publicKey, certificate: nil, topic: .app,
            at: start)
        #expect(try store.deviceKeys() == before)
    }

    /// A late message from before a rotation reverts nothing, also while the next key waits.
    @Test(arguments: DeviceStoreKind.allCases)
    func aMessageUnderARetiringKeyConfirmsNothing(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let old = try store.generateDeviceKey(at: start)
        for states in [[.retiring, .active], [.retiring, .active, .pending]] as [[DeviceKeyRecord.State]] {
            _ = try store.rotateDeviceKey(at: start)
            if states.count == 2 { _ = try store.confirmDeviceKey(at: start) }
            let before = try store.deviceKeys()
            #expect(before.map(\.state) == states)
            try store.settle(
                openedWith: old.publicKey, provider: OneProvider.key.publicKey, certificate: nil, topic: .app,
                at: start + 5)
            #expect(try store.deviceKeys() == before)
        }
    }

    // MARK: Crashes and lost replies

    /// At every point of rotate, register, reply, confirm, the process may end and the reply be lost: whichever of the two
    /// keys the provider seals to, the device opens it.
    @Test func noMessageIsLostWhereverTheProcessEnds() throws {
        let home = try Home()
        let old = try home.store.generateDeviceKey(at: start)
        var sealedTo = [old.keyID]
        func opensAll(_ now: Timestamp) throws -> Bool {
            let store = try home.reopened()
            return try sealedTo.allSatisfy { try store.deviceKey(id: $0, at: now) != nil }
        }
        let new = try home.reopened().rotateDeviceKey(at: start)
        #expect(try opensAll(start))
        #expect(try home.reopened().rotateDeviceKey(at: start + 1) == new)
        sealedTo.append(new.keyID)
        #expect(try opensAll(start + 2), "registered, the reply lost")
        _ = try home.reopened().confirmDeviceKey(at: start + 3)
        #expect(try opensAll(start + 3))
        #expect(try home.reopened().confirmDeviceKey(at: start + 4) == nil)
        #expect(try opensAll((start + 3).adding(SQLiteKeyStore.standardGrace)))
    }

    @Test func aChangeWhoseTransactionDoesNotEndHasNotHappened() throws {
        let home = try Home()
        _ = try home.store.generateDeviceKey(at: start)
        _ = try home.store.rotateDeviceKey(at: start)
        let before = try home.store.deviceKeys()
        // The row of the active key is written, then the process goes on to nothing.
        let failure = error {
            try home.store.write { (store) throws(KeyStoreError) in
                for row in try store.deviceKeyRows("default") where row.state == .active {
                    try store.put(try row.moved(to: .retiring, retiresAt: start, store.keys))
                }
                throw KeyStoreError(.inputOutput, "stop")
            }
        }
        #expect(failure?.code == .inputOutput)
        #expect(try home.store.deviceKeys() == before)
        #expect(try home.reopened().deviceKeys() == before)
    }
}
