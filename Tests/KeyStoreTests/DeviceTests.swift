import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's devices: what is taken, what is refused, and bulk.
struct DeviceTests {
    private func registration(
        _ key: DevicePublicKey = DeviceKey().publicKey, topic: Topic? = nil, generation: UInt64 = 1,
        pinned: ProviderPublicKey? = nil, suites: [UInt8] = [1], version: String? = nil
    ) -> DeviceRegistration {
        DeviceRegistration(
            deviceID: "ignored", publicKey: key, suites: suites, topic: topic, generation: generation, createdAt: start,
            pinnedProvider: pinned, appVersion: version.flatMap(AppVersion.init))
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceIsHeldAsItRegistered(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let pinned = ProviderKey().publicKey
        let registration = registration(
            topic: try .app, generation: 7, pinned: pinned, suites: [1, 2, 255], version: "2.3.1 (\"β\")")
        #expect(try store.addDevice(registration, id: "phone1", at: start + 3) == .added)
        let device = try #require(try store.device(id: "phone1"))
        #expect(device.id == "phone1")
        #expect(device.publicKey == registration.publicKey)
        #expect(device.topic?.bundleID == "com.example.app")
        #expect(device.generation == 7)
        #expect(device.createdAt == start)
        #expect(device.updatedAt == start + 3)
        #expect(device.pinnedProvider == pinned)
        #expect(device.suites == [1, 2, 255])
        #expect(device.appVersion?.description == "2.3.1 (\"β\")")
        #expect(try store.device(id: "phone2") == nil)
        #expect(try store.devices(["phone2", "phone1", "phone1"]).map { try? $0.get() } == [nil, device, device])
        #expect(try store.deviceCount() == 1)
        #expect(try store.removeDevice(id: "phone1", at: start))
        #expect(try !store.removeDevice(id: "phone1", at: start))
        #expect(try store.device(id: "phone1") == nil && store.deviceCount() == 0)
    }

    /// Otherwise the phone would get no certificate that leads it to the key it has pinned now.
    @Test func theLastReportedPinCounts() throws {
        let store = try Home(.memory).store
        let key = DeviceKey().publicKey
        _ = try store.addDevice(registration(key, pinned: ProviderKey().publicKey), id: "a", at: start)
        #expect(try store.addDevice(registration(key), id: "a", at: start) == .updated)
        #expect(try store.device(id: "a")?.pinnedProvider == nil)
    }

    @Test(arguments: ["", "a\tb", "a\u{1b}[2J", String(repeating: "é", count: 128), "pcr1x", " ", "   "])
    func anIDThatALogCannotTakeIsRefused(_ id: String) throws {
        let store = try Home(.memory).store
        #expect(code { try store.addDevice(registration(), id: id, at: start) } == .invalidName)
        #expect(try store.deviceCount() == 0)
    }

    @Test(arguments: ["x", "user@example.com/1", "🚲", "' OR 1=1 --", String(repeating: "x", count: 255)])
    func anyOtherIDIsTaken(_ id: String) throws {
        let store = try Home(.memory).store
        #expect(try store.addDevice(registration(), id: id, at: start) == .added)
        #expect(try store.device(id: id)?.id == id)
    }

    // MARK: Bulk

    @Test(arguments: StoreKind.allCases)
    func aBatchIsTakenRowByRow(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let kept = registration(generation: 5, suites: [1, 2], version: "2.3.1")
        _ = try store.addDevice(kept, id: "kept", at: start)
        let same = registration(generation: 5, suites: [1, 2], version: "2.3.1")
        _ = try store.addDevice(same, id: "same", at: start)
        let batch: [DeviceChange] = [
            .registered(id: "new", registration()), .registered(id: "kept", registration(generation: 4)),
            .registered(id: "", registration()), .registered(id: "same", same),
            .registered(id: "kept", registration(generation: 6)), .registered(id: "kept", registration(generation: 5)),
        ]
        let result = try store.importDevices(batch, at: start + 1)
        #expect(result.added == 1 && result.updated == 1 && result.unchanged == 1)
        #expect(result.refused.map(\.index) == [1, 2, 5])
        #expect(result.refused.map(\.error.code) == [.generationRollback, .invalidName, .generationRollback])
        #expect(try store.device(id: "kept")?.generation == 6)
        #expect(try store.device(id: "same")?.suites == [1, 2])
        #expect(try store.device(id: "same")?.appVersion?.description == "2.3.1")
        #expect(try store.deviceCount() == 3)
        #expect(try store.importDevices([batch[1]], replace: true, at: start).updated == 1)
        #expect(try store.importDevices([], at: start).added == 0)
    }

    @Test func everyDeviceOfALargeBatchIsGivenOnceInOrder() throws {
        let store = try Home(.memory).store
        let batch = (0..<12_345).reversed().map {
            DeviceChange.registered(id: "device-\($0)", registration(.numbered($0)))
        }
        #expect(try store.importDevices(batch, at: start).added == 12_345)
        #expect(try store.deviceCount() == 12_345)
        var ids: [String] = []
        try store.forEachDevice { ids.append(try $0.get().id) }
        #expect(ids == (0..<12_345).map { "device-\($0)" }.sorted())
    }

    @Test func aCallerMayStopInTheMiddleAndUseTheStoreMeanwhile() throws {
        let store = try Home().store
        for id in ["a", "b", "c"] { _ = try store.addDevice(registration(), id: id, at: start) }
        struct Stop: Error {}
        var seen: [String] = []
        #expect(throws: Stop.self) {
            try store.forEachDevice { entry in
                let device = try entry.get()
                seen.append(device.id)
                _ = try store.removeDevice(id: device.id, at: start)
                if device.id == "b" { throw Stop() }
            }
        }
        #expect(seen == ["a", "b"])
        #expect(try store.deviceCount() == 1)
    }
}
