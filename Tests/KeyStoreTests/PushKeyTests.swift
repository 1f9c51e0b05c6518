import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The key with which a server signs its requests to relays, and the grants that devices bring.
struct PushKeyTests {
    @Test(arguments: StoreKind.allCases)
    func aStoreKeepsOnePushKeySealed(_ kind: StoreKind) throws {
        let home = try Home(kind)
        #expect(try home.store.pushKeys(at: start) == nil)
        #expect(code { try home.store.pushSecrets(at: start) } == .unknownName)
        #expect(code { try home.store.removePushKey() } == .unknownName)
        let key = PushKey()
        let record = try home.store.addPushKey(key, at: start)
        #expect(record == PushKeyRecord(publicKey: key.publicKey, createdAt: start))
        #expect(code { try home.store.addPushKey(at: start) } == .nameTaken)
        #expect(
            try home.store.pushKeys(at: start)?.current == record
                && home.store.pushSecrets(at: start).current.publicKey == key.publicKey)
        #expect(home.store.check().allSatisfy { $0.severity == .note })
        guard kind == .disk else { return }
        let seed = key.withSeed { Bytes(copying: $0) }
        #expect(try !home.scratch.bytes().contains(seed))
        #expect(try home.reopened().pushSecrets(at: start).current.publicKey == key.publicKey)
        let sealed = try #require(try home.sealed())
        try home.store.removePushKey()
        #expect(try home.store.pushKeys(at: start) == nil && !home.holds(sealed))
        #expect(try home.store.addPushKey(at: start + 1).publicKey != key.publicKey)
    }

    @Test func theNextPushKeyTakesThePlaceOfThePresentOneInSevenDays() throws {
        let home = try Home(.disk)
        #expect(code { try home.store.addNextPushKey(at: start) } == .unknownName)
        let first = try home.store.addPushKey(at: start)
        let next = try home.store.addNextPushKey(at: start + 1)
        #expect(code { try home.store.addNextPushKey(at: start + 2) } == .nameTaken)
        let change = (start + 1).adding(.days(7))
        let store = try home.reopened()
        func keys(_ now: Timestamp) throws -> [PushKeyRecord?] {
            let keys = try #require(try store.pushKeys(at: now))
            #expect(try store.pushSecrets(at: now).current.publicKey == keys.current.publicKey)
            return [keys.current, keys.next, keys.previous]
        }
        #expect(try keys(start + 2) == [first, next, nil])
        #expect(try keys(change.subtracting(milliseconds: 1)) == [first, next, nil])
        #expect(try keys(change) == [next, nil, first])
        #expect(store.check().allSatisfy { $0.severity == .note })
        // The one after that ends the first.
        let third = try store.addNextPushKey(at: change)
        #expect(try keys(change) == [next, third, nil])
        try store.removePushKey()
        #expect(try store.pushKeys(at: change) == nil && !store.hasPushKey())
    }

    @Test func anEndedGrantIsToldUnlessThereIsANewerOne() throws {
        let store = try Home(.memory).store
        var registration = DeviceRegistration(publicKey: try DeviceKey(.x25519).publicKey, createdAt: start)
        registration.grant = "first"
        try store.addDevice(registration, id: "phone", at: start)
        #expect(try store.endGrants([EndedGrant(id: "phone", grant: "second")]) == 0)
        #expect(try store.endGrants([EndedGrant(id: "other", grant: "first")]) == 0)
        registration.grant = "second"
        try store.addDevice(registration, id: "phone", at: start + 1)
        #expect(try store.endGrants([EndedGrant(id: "phone", grant: "first")]) == 0)
        let before = try #require(try store.device(id: "phone"))
        #expect(before.grant == "second")
        #expect(try store.endGrants([EndedGrant(id: "phone", grant: "second")]) == 1)
        let after = try #require(try store.device(id: "phone"))
        #expect(after.grant == nil && after.updatedAt == before.updatedAt && after.publicKey == before.publicKey)
        // A record without a grant, or with the same, brings none back. [D-33]
        for (time, grant) in [(2, nil), (3, "second"), (4, nil)] as [(UInt64, String?)] {
            registration.grant = grant
            try store.addDevice(registration, id: "phone", at: start + time)
            let device = try #require(try store.device(id: "phone"))
            #expect(device.grant == nil && device.hasEnded("second") && !device.hasEnded(nil))
        }
        registration.grant = "third"
        try store.addDevice(registration, id: "phone", at: start + 5)
        let third = try #require(try store.device(id: "phone"))
        #expect(third.grant == "third" && third.endedGrant == nil)
        #expect(try store.endGrants([EndedGrant(id: "phone", grant: "second")]) == 0)
    }

    @Test func aGoneDeviceIsKeptIfItHasANewerGrant() throws {
        let store = try Home(.memory).store
        var registration = DeviceRegistration(publicKey: try DeviceKey(.x25519).publicKey, createdAt: start)
        registration.grant = "second"
        try store.addDevice(registration, id: "phone", at: start)
        let result = try store.removeDevices([LostDevice(id: "phone", at: start + 1, grant: "first")], at: start + 1)
        #expect(result.kept == 1 && result.removed == 0)
        let second = try store.removeDevices([LostDevice(id: "phone", at: start + 1, grant: "second")], at: start + 1)
        #expect(second.removed == 1)
    }
}
