import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Devices that are gone, and what may bring them back.
struct RemovedDeviceTests {
    private let key = DeviceKey().publicKey

    private func registration(
        _ key: DevicePublicKey? = nil, created: Timestamp? = start, generation: UInt64 = 1
    ) -> DeviceRegistration {
        DeviceRegistration(publicKey: key ?? self.key, generation: generation, createdAt: created)
    }

    private func removed(_ store: SQLiteKeyStore) throws -> [RemovedDevice] {
        var removed: [RemovedDevice] = []
        try store.forEachRemovedDevice { removed.append(try $0.get()) }
        return removed
    }

    @Test(arguments: StoreKind.allCases)
    func aRemovalIsRememberedUntilTheDeviceRegisters(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        _ = try store.addDevice(registration(), id: "a", at: start)
        #expect(try store.removeDevice(id: "a", reason: "logged out", at: start + 1))
        let last = RemovedDevice.LastKey(generation: 1, suite: .x25519, id: key.id)
        let signing = RemovedDevice.Signing(sequence: (start + 86_401).milliseconds)
        #expect(
            try removed(store) == [
                RemovedDevice(id: "a", removedAt: start + 1, reason: "logged out", lastKey: last, signing: signing)
            ])
        #expect(try !store.removeDevice(id: "a", at: start + 2))
        #expect(try removed(store).map(\.removedAt) == [start + 1])
        #expect(try !store.removeDevice(id: "never", at: start + 2))
        #expect(try store.addDevice(registration(), id: "a", at: start + 1) == .added)
        #expect(try removed(store) == [])
    }

    @Test func aRemovalIsLaterThanWhatItRemovesWhateverTheClockSays() throws {
        let store = try Home(.memory).store
        _ = try store.addDevice(registration(), id: "a", at: start + 100)
        #expect(try store.removeDevice(id: "a", at: start))
        #expect(try removed(store).map(\.removedAt) == [start + 100])
    }

    /// Later than now by two days, until 2100, after that and in microseconds.
    private static let clocks: [(ahead: UInt64, isTaken: Bool)] = [
        (172_800_000, true), (4_102_444_800_000 - start.milliseconds - 1_000_000, true),
        (4_102_444_800_001 - start.milliseconds - 1_000_000, false), (start.milliseconds * 999, false), (.max, false),
    ]

    @Test(arguments: clocks)
    func aKeyFromTheFutureDoesNotBringADeviceBack(_ clock: (ahead: UInt64, isTaken: Bool)) throws {
        let store = try Home(.memory).store
        let now = start + 1000
        _ = try store.addDevice(registration(), id: "a", at: start)
        _ = try store.removeDevice(id: "a", at: start + 100)
        let line = DeviceChange.registered(id: "a", registration(created: now.adding(milliseconds: clock.ahead)))
        let result = try store.importDevices([line], at: now)
        #expect(result.added == (clock.isTaken ? 1 : 0))
        #expect(result.refused.map(\.error.code) == (clock.isTaken ? [] : [.futureTime]))
        #expect(try (store.device(id: "a") != nil) == clock.isTaken)
        // It decides nothing about a device that was never removed: a phone's clock may be wrong.
        let other = DeviceChange.registered(
            id: "b", registration(DeviceKey().publicKey, created: now.adding(milliseconds: clock.ahead)))
        #expect(try store.importDevices([other], at: now).added == 1)
    }

    @Test(arguments: clocks)
    func anotherStoresTimesAfter2100AreRefused(_ clock: (ahead: UInt64, isTaken: Bool)) throws {
        let store = try Home(.memory).store
        let now = start + 1000
        let time = now.adding(milliseconds: clock.ahead)
        _ = try store.addDevice(registration(), id: "a", at: start)
        _ = try store.addDevice(registration(DeviceKey().publicKey), id: "b", at: start)
        let changes: [DeviceChange] = [
            .registered(id: "a", registration(generation: 2), updatedAt: time),
            .removed(RemovedDevice(id: "b", removedAt: time)),
        ]
        for replace in [false, true] {
            let result = try store.importDevices(changes, replace: replace, at: now)
            #expect(result.refused.map(\.error.code) == (clock.isTaken ? [] : [.futureTime, .futureTime]))
        }
        #expect(try store.device(id: "a")?.generation == (clock.isTaken ? 2 : 1))
        #expect(try store.device(id: "a").map { $0.updatedAt <= now } == true)
        #expect(try (store.device(id: "b") == nil) == clock.isTaken)
        #expect(try removed(store).allSatisfy { $0.removedAt <= now })
    }

    @Test func anInvalidRemovalIsRefusedByItself() throws {
        let store = try Home(.memory).store
        let batch: [DeviceChange] = ["", "pcr1x", "a\n"].map { .removed(RemovedDevice(id: $0, removedAt: start)) }
        let reason = DeviceChange.removed(RemovedDevice(id: "a", removedAt: start, reason: ""))
        let result = try store.importDevices(
            batch + [reason, .removed(RemovedDevice(id: "a", removedAt: start))], at: start)
        #expect(result.refused.map(\.index) == [0, 1, 2, 3])
        #expect(result.refused.allSatisfy { $0.error.code == .invalidName })
        #expect(result.removed == 1)
        #expect(code { try store.removeDevice(id: "a", reason: "a\u{7}", at: start) } == .invalidName)
    }

    // MARK: Answers of APNs

    @Test func aDeviceThatRegisteredSinceIsKept() throws {
        let home = try Home()
        let store = home.store
        for (id, time) in [("old", 10), ("same", 20), ("new", 21), ("broken", 1)] as [(String, UInt64)] {
            _ = try store.addDevice(registration(DeviceKey().publicKey), id: id, at: start + time)
        }
        try home.raw().execute("UPDATE devices SET generation = 9 WHERE id = 'broken'")
        let batch = ["old", "same", "new", "broken", "never", "old"].map {
            LostDevice(id: $0, at: start + 20, reason: "unregistered")
        }
        let result = try store.removeDevices(batch, at: start + 1000)
        #expect(result.removed == 3 && result.kept == 1 && result.unknown == 2)
        #expect(try removed(store).map(\.id) == ["broken", "old", "same"])
        let again = try store.removeDevices(batch, at: start + 1000)
        #expect(again.removed == 0 && again.kept == 1 && again.unknown == 5)
    }

    /// Microseconds, or a clock that is far off: later than whatever a device has done since.
    @Test(arguments: clocks)
    func aRemovalFromTheFutureRemovesNoLiveDevice(_ clock: (ahead: UInt64, isTaken: Bool)) throws {
        let store = try Home(.memory).store
        let now = start + 1000
        for id in ["a", "b"] { _ = try store.addDevice(registration(DeviceKey().publicKey), id: id, at: start) }
        let batch = [
            LostDevice(id: "a", at: start + 1), LostDevice(id: "b", at: now.adding(milliseconds: clock.ahead)),
        ]
        #expect(code { try store.removeDevices(batch, at: now) } == (clock.isTaken ? nil : .futureTime))
        #expect(try removed(store).map(\.removedAt) == (clock.isTaken ? [start + 1, now] : []))
        #expect(try store.deviceCount() == (clock.isTaken ? 0 : 2))
    }

    /// An answer may come long after the token that it is about.
    @Test func aDeviceWithAnotherTokenIsKept() throws {
        let store = try Home(.memory).store
        for (id, token) in ["same": "0a1b", "renewed": "2c3d", "none": nil] {
            var registration = registration(DeviceKey().publicKey)
            registration.token = token
            _ = try store.addDevice(registration, id: id, at: start)
        }
        let batch = ["same", "renewed", "none"].map { LostDevice(id: $0, at: start + 20, token: "0a1b") }
        let result = try store.removeDevices(batch, at: start + 40)
        #expect(result.removed == 2 && result.kept == 1)
        #expect(try store.device(id: "renewed") != nil)
        // A report without a token is about the device.
        #expect(try store.removeDevices([LostDevice(id: "renewed", at: start + 20)], at: start + 40).removed == 1)
    }

    // MARK: Forgetting

    @Test func removalsUpToATimeAreForgotten() throws {
        let store = try Home(.memory).store
        for (id, time) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt64)] {
            _ = try store.addDevice(registration(), id: id, at: start)
            _ = try store.removeDevice(id: id, at: start + time)
        }
        #expect(try store.forgetRemovedDevices(upTo: start) == 0)
        #expect(try store.forgetRemovedDevices(upTo: start + 2) == 2)
        #expect(try removed(store).map(\.id) == ["c"])
        #expect(try store.forgetRemovedDevices(upTo: Timestamp(milliseconds: .max)) == 1)
    }
}
