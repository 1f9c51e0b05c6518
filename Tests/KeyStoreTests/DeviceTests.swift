import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's devices: what is taken, what is refused, and bulk.
struct DeviceTests {
    private func registration(
        _ key: DevicePublicKey = DeviceKey().publicKey, topic: Topic? = nil, generation: UInt64 = 1,
        pinned: SenderPublicKey? = nil, suites: [UInt8] = [1], version: String? = nil
    ) -> DeviceRegistration {
        DeviceRegistration(
            deviceID: "ignored", publicKey: key, suites: suites, topic: topic, generation: generation, createdAt: start,
            pinnedSender: pinned, appVersion: version.flatMap(AppVersion.init))
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceIsHeldAsItRegistered(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let pinned = SenderKey().publicKey
        let registration = registration(
            topic: try .app, generation: 7, pinned: pinned, suites: [1, 2, 255], version: "2.3.1 (\"β\")")
        #expect(try store.addDevice(id: "phone1", registration, now: start + 3) == .added)
        let device = try #require(try store.device("phone1"))
        #expect(device.id == "phone1")
        #expect(device.publicKey == registration.publicKey)
        #expect(device.topic?.bundleID == "com.example.app")
        #expect(device.generation == 7)
        #expect(device.createdAt == start)
        #expect(device.updatedAt == start + 3)
        #expect(device.pinnedSender == pinned)
        #expect(device.suites == [1, 2, 255])
        #expect(device.appVersion?.description == "2.3.1 (\"β\")")
        #expect(try store.device("phone2") == nil)
        #expect(try store.devices(["phone2", "phone1", "phone1"]).map { try? $0.get() } == [nil, device, device])
        #expect(try store.deviceCount() == 1)
        #expect(try store.removeDevice("phone1", now: start))
        #expect(try !store.removeDevice("phone1", now: start))
        #expect(try store.device("phone1") == nil && store.deviceCount() == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aNewerGenerationTakesThePlaceOfAnOlder(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let first = registration(generation: 1)
        let second = registration(generation: 2)
        #expect(try store.addDevice(id: "a", first, now: start) == .added)
        #expect(try store.addDevice(id: "a", first, now: start + 1) == .unchanged)
        #expect(try store.device("a")?.updatedAt == start + 1, "a device that says the same is alive")
        #expect(try store.addDevice(id: "a", second, now: start + 2) == .updated)
        #expect(try store.device("a")?.publicKey == second.publicKey)
        #expect(code { try store.addDevice(id: "a", first, now: start + 3) } == .generationRollback)
        #expect(
            code { try store.addDevice(id: "a", registration(generation: 2), now: start + 3) } == .generationRollback)
        #expect(try store.device("a")?.publicKey == second.publicKey)
        #expect(try store.addDevice(id: "a", first, replace: true, now: start + 4) == .updated)
        #expect(try store.device("a")?.generation == 1)
        #expect(try store.addDevice(id: "b", first, replace: true, now: start + 4) == .added)
    }

    @Test func generationsAreUnsigned() throws {
        let store = try Home(.memory).store
        #expect(try store.addDevice(id: "a", registration(generation: .max), now: start) == .added)
        #expect(code { try store.addDevice(id: "a", registration(generation: 1), now: start) } == .generationRollback)
        #expect(try store.device("a")?.generation == .max)
    }

    @Test func aKeyKeepsItsGeneration() throws {
        let store = try Home(.memory).store
        let key = DeviceKey().publicKey
        #expect(try store.addDevice(id: "a", registration(key, generation: 2), now: start) == .added)
        let older = registration(key, generation: 1)
        #expect(code { try store.addDevice(id: "a", older, now: start) } == .generationRollback)
        #expect(try store.device("a")?.generation == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceStaysWithItsApp(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let key = DeviceKey().publicKey
        #expect(try store.addDevice(id: "a", registration(key), now: start) == .added)
        #expect(try store.addDevice(id: "a", registration(key, topic: .app), now: start) == .updated)
        #expect(try store.addDevice(id: "a", registration(key), now: start) == .unchanged)
        #expect(try store.device("a")?.topic?.bundleID == "com.example.app")
        #expect(code { try store.addDevice(id: "a", registration(key, topic: .other), now: start) } == .topicMismatch)
        #expect(try store.addDevice(id: "a", registration(key, topic: .other), replace: true, now: start) == .updated)
        #expect(try store.device("a")?.topic?.bundleID == "com.example.other")
    }

    @Test func theLastReportedSenderCounts() throws {
        let store = try Home(.memory).store
        let key = DeviceKey().publicKey
        let pinned = SenderKey().publicKey
        _ = try store.addDevice(id: "a", registration(key, pinned: pinned), now: start)
        #expect(try store.device("a")?.pinnedSender == pinned)
        // A device that does not say is told every rotation again: that costs bytes, the opposite loses messages.
        #expect(try store.addDevice(id: "a", registration(key), now: start) == .updated)
        #expect(try store.device("a")?.pinnedSender == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func theLastReportedSuitesAndVersionCount(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let key = DeviceKey().publicKey
        let steps: [(suites: [UInt8], version: String?, outcome: RegistrationOutcome)] = [
            ([1], nil, .added), ([1], nil, .unchanged), ([1, 2], nil, .updated), ([1, 2], nil, .unchanged),
            ([1, 2], "é", .updated), ([1, 2], "e\u{301}", .updated), ([1, 3], "e\u{301}", .updated),
            ([1], "e\u{301}", .updated), ([1], "e\u{301}", .unchanged), ([1], nil, .updated),
        ]
        for (index, step) in steps.enumerated() {
            let registration = registration(key, suites: step.suites, version: step.version)
            #expect(try store.addDevice(id: "a", registration, now: start) == step.outcome, "step \(index)")
            let device = try #require(try store.device("a"))
            #expect(device.suites == step.suites, "step \(index)")
            #expect(device.appVersion == step.version.flatMap(AppVersion.init), "step \(index)")
        }
    }

    @Test(arguments: ["", "a\tb", "a\u{1b}[2J", String(repeating: "é", count: 128), "pcr1x", " ", "   "])
    func anIDThatALogCannotTakeIsRefused(_ id: String) throws {
        let store = try Home(.memory).store
        #expect(code { try store.addDevice(id: id, registration(), now: start) } == .invalidName)
        #expect(try store.deviceCount() == 0)
    }

    @Test(arguments: ["x", "user@example.com/1", "🚲", "' OR 1=1 --", String(repeating: "x", count: 255)])
    func anyOtherIDIsTaken(_ id: String) throws {
        let store = try Home(.memory).store
        #expect(try store.addDevice(id: id, registration(), now: start) == .added)
        #expect(try store.device(id)?.id == id)
    }

    // MARK: Bulk

    @Test(arguments: StoreKind.allCases)
    func aBatchIsTakenRowByRow(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        let kept = registration(generation: 5, suites: [1, 2], version: "2.3.1")
        _ = try store.addDevice(id: "kept", kept, now: start)
        _ = try store.addDevice(id: "same", kept, now: start)
        let batch: [DeviceChange] = [
            .registered(id: "new", registration()), .registered(id: "kept", registration(generation: 4)),
            .registered(id: "", registration()), .registered(id: "same", kept),
            .registered(id: "kept", registration(generation: 6)), .registered(id: "kept", registration(generation: 5)),
        ]
        let result = try store.importDevices(batch, now: start + 1)
        #expect(result.added == 1 && result.updated == 1 && result.unchanged == 1)
        #expect(result.refused.map(\.index) == [1, 2, 5])
        #expect(result.refused.map(\.error.code) == [.generationRollback, .invalidName, .generationRollback])
        #expect(try store.device("kept")?.generation == 6)
        #expect(try store.device("same")?.suites == [1, 2])
        #expect(try store.device("same")?.appVersion?.description == "2.3.1")
        #expect(try store.deviceCount() == 3)
        #expect(try store.importDevices([batch[1]], replace: true, now: start).updated == 1)
        #expect(try store.importDevices([], now: start).added == 0)
    }

    @Test func everyDeviceOfALargeBatchIsGivenOnceInOrder() throws {
        let store = try Home(.memory).store
        let key = DeviceKey().publicKey
        let batch = (0..<12_345).reversed().map { DeviceChange.registered(id: "device-\($0)", registration(key)) }
        #expect(try store.importDevices(batch, now: start).added == 12_345)
        #expect(try store.deviceCount() == 12_345)
        var ids: [String] = []
        try store.forEachDevice { ids.append(try $0.get().id) }
        #expect(ids == (0..<12_345).map { "device-\($0)" }.sorted())
    }

    @Test func aCallerMayStopInTheMiddleAndUseTheStoreMeanwhile() throws {
        let store = try Home().store
        for id in ["a", "b", "c"] { _ = try store.addDevice(id: id, registration(), now: start) }
        struct Stop: Error {}
        var seen: [String] = []
        #expect(throws: Stop.self) {
            try store.forEachDevice { entry in
                let device = try entry.get()
                seen.append(device.id)
                _ = try store.removeDevice(device.id, now: start)
                if device.id == "b" { throw Stop() }
            }
        }
        #expect(seen == ["a", "b"])
        #expect(try store.deviceCount() == 1)
    }
}
