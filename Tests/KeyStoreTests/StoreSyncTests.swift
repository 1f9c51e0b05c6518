import Pushcrypt
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
