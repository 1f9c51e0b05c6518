import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// Two stores of one provider that take each other's exports.
struct StoreSyncTests {
    /// An export from one store to another.
    private static func export(_ store: SQLiteKeyStore) throws -> [DeviceChange] {
        var changes: [DeviceChange] = []
        try store.forEachDevice { entry in
            let device = try entry.get()
            changes.append(
                .registered(
                    id: device.id,
                    DeviceRegistration(
                        publicKey: device.publicKey, suites: device.suites, topic: device.topic,
                        generation: device.generation, createdAt: device.createdAt,
                        pinnedProvider: device.pinnedProvider,
                        appVersion: device.appVersion),
                    owner: device.user.map { .user($0) } ?? .nobody, updatedAt: device.updatedAt, epoch: device.epoch))
        }
        try store.forEachRemovedDevice { changes.append(.removed(try $0.get())) }
        return changes
    }

    /// The last event of a device, in whichever store.
    private struct Last: Equatable {
        var time: Timestamp
        var user: String?
        var isRemoved = false
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func storesAgreeInTheEnd(_ seed: UInt64) throws {
        var random = Seed(seed)
        let stores = [try Home(.memory).store, try Home(.memory).store]
        var keys: [String: DevicePublicKey] = [:]
        var lasts: [String: Last] = [:]
        var now = start
        for step in 0..<120 as Range<UInt64> {
            now = now.next
            let store = stores[Int(random.next() % 2)]
            let id = "device \(random.next() % 6)"
            switch random.next() % 10 {
            case 0..<5:
                let user = ["alice", "bob", nil][Int(random.next() % 3)]
                let key = keys[id, default: DeviceKey().publicKey]
                keys[id] = key
                let registration = DeviceRegistration(publicKey: key, generation: step + 1, createdAt: start)
                // The operator gives the device to another user.
                _ = try store.addDevice(
                    registration, id: id, owner: user.map { .user($0) } ?? .nobody, replace: true, at: now)
                lasts[id] = Last(time: now, user: user)
            case 5..<8:
                // A store that does not know the device has nothing to remove.
                if try store.removeDevice(id: id, at: now) { lasts[id] = Last(time: now, isRemoved: true) }
            default:
                let (from, to) = random.next() % 2 == 0 ? (0, 1) : (1, 0)
                let changes = try Self.export(stores[from])
                #expect(try stores[to].importDevices(changes, at: now).refused.isEmpty)
            }
        }
        for (from, to) in [(0, 1), (1, 0), (0, 1)] {
            _ = try stores[to].importDevices(try Self.export(stores[from]).reversed(), at: now)
        }
        for store in stores {
            var found: [String: Last] = [:]
            try store.forEachDevice { entry in
                let device = try entry.get()
                found[device.id] = Last(time: device.updatedAt, user: device.user)
            }
            try store.forEachRemovedDevice { entry in
                let device = try entry.get()
                #expect(found[device.id] == nil)
                found[device.id] = Last(time: device.removedAt, isRemoved: true)
            }
            #expect(found == lasts)
            let again = try store.importDevices(try Self.export(stores[0]), at: now)
            #expect(again.unchanged == lasts.count)
        }
    }

    @Test func ofTwoRegistrationsInOneMillisecondTheLaterKeyIsTaken() throws {
        let keys = [DeviceKey().publicKey, DeviceKey().publicKey]
        let changes = keys.indices.map { index in
            DeviceChange.registered(
                id: "a", DeviceRegistration(publicKey: keys[index], generation: UInt64(index), createdAt: start),
                updatedAt: start)
        }
        for order in [changes, changes.reversed()] {
            let store = try Home(.memory).store
            _ = try store.importDevices(order, at: start)
            #expect(try store.device(id: "a")?.publicKey == keys[1])
        }
    }

    @Test func aKeyThatHasMovedMovesInTheOtherStoreToo() throws {
        let stores = [try Home(.memory).store, try Home(.memory).store]
        let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        for id in ["b", "a", "c"] {
            _ = try stores[0].addDevice(registration, id: id, owner: .user("alice"), at: start)
            for (from, to) in [(0, 1), (1, 0)] {
                let result = try stores[to].importDevices(try Self.export(stores[from]), at: start)
                #expect(result.refused.isEmpty)
            }
            for store in stores {
                #expect(try store.deviceCount() == 1)
                #expect(try store.device(id: id)?.publicKey == registration.publicKey)
            }
        }
    }

    /// An export says all that there is to say; a phone's record leaves what it does not speak of.
    @Test func aLineOfAnExportTakesTheTopicAwayAndAPhonesRecordDoesNot() throws {
        let store = try Home(.memory).store
        let key = DeviceKey().publicKey
        let bound = DeviceRegistration(publicKey: key, topic: try .app, createdAt: start)
        let unbound = DeviceRegistration(publicKey: key, createdAt: start)
        _ = try store.addDevice(bound, id: "a", at: start)
        _ = try store.importDevices([.registered(id: "a", unbound)], at: start + 1)
        #expect(try store.device(id: "a")?.topic == .app)
        _ = try store.importDevices([.registered(id: "a", unbound, updatedAt: start + 2)], at: start + 3)
        #expect(try store.device(id: "a")?.topic == nil)
    }
}
