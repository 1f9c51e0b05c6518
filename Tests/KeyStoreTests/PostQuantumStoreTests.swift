import ModelKeychain
import PostQuantum
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A public key of suite 2 that any build can store.
private func plainKey(_ byte: UInt8 = 9) throws -> DevicePublicKey {
    let bytes = Bytes(repeating: 0, count: 1184) + [byte] + Bytes(repeating: 0, count: 31)
    return try DevicePublicKey(bytes: bytes.span)
}

/// A provider's devices with keys of suite 2. [D-29, D-30]
struct PostQuantumStoreTests {
    private func registration(_ key: DevicePublicKey, _ generation: UInt64) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, suites: [1, 2], generation: generation, createdAt: start)
    }

    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aKeyThatCannotBeSealedToIsRefused() throws {
        let store = try Home(.memory).store
        let key = try plainKey()
        #expect(code { try store.addDevice(registration(key, 1), id: "a", at: start) } == .unsupportedSuite)
        let replaced = code { try store.addDevice(registration(key, 1), id: "a", replace: true, at: start) }
        #expect(replaced == .unsupportedSuite)
        #expect(try store.device(id: "a") == nil)
        let made = code { try store.generateDeviceKey(named: "x", topic: nil, suite: .xwing, at: start) }
        #expect(made == .unsupportedSuite)
        for replace in [false, true] {
            let result = try store.importDevices(
                [.registered(id: "a", registration(key, 1))], replace: replace, at: start)
            #expect(result.refused.map(\.error.code) == [.unsupportedSuite])
        }
        // Another store's record is kept: that one can seal to it.
        let exported = DeviceChange.registered(id: "a", registration(key, 1), owner: .nobody, updatedAt: start)
        #expect(try store.importDevices([exported], at: start).added == 1)
        #expect(try store.device(id: "a")?.publicKey == key)
        #expect(try store.importDevices([exported], replace: true, at: start).updated == 1)
    }

    /// Another server has stored the key, and its reply was lost: told that it is refused, the phone would retire it.
    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aKeyThatIsHeldIsNotRefused() throws {
        let store = try Home(.memory).store
        let key = try plainKey()
        _ = try store.importDevices([.registered(id: "a", registration(key, 2), updatedAt: start)], at: start)
        for replace in [false, true] {
            _ = try store.addDevice(registration(key, 2), id: "a", replace: replace, at: start)
            #expect(try store.device(id: "a")?.publicKey == key)
            let other = registration(try plainKey(10), 3)
            #expect(code { try store.addDevice(other, id: "a", replace: replace, at: start) } == .unsupportedSuite)
        }
        #expect(try store.importDevices([.registered(id: "a", registration(key, 2))], at: start).unchanged == 1)
    }

    /// A device repeats an old record at another store, whose export is then the later one.
    @Test func noExportTakesADeviceBack() throws {
        let store = try Home(.memory).store
        let (first, second, third) = (DeviceKey().publicKey, DeviceKey().publicKey, try plainKey())
        func change(_ key: DevicePublicKey, _ generation: UInt64, at time: UInt64) -> DeviceChange {
            .registered(id: "a", registration(key, generation), owner: .nobody, updatedAt: start + time)
        }
        for step in [(second, 2, 10), (third, 3, 20)] as [(key: DevicePublicKey, generation: UInt64, time: UInt64)] {
            let taken = try store.importDevices([change(step.key, step.generation, at: step.time)], at: start + 100)
            #expect(taken.added + taken.updated == 1)
            let repeated = try store.importDevices([change(first, 1, at: step.time + 5)], at: start + 100)
            #expect(repeated.stale == 1)
            #expect(try store.device(id: "a")?.publicKey == step.key)
        }
        // Not even with a later generation.
        #expect(try store.importDevices([change(first, 9, at: 50)], at: start + 100).stale == 1)
        #expect(try store.importDevices([change(first, 9, at: 50)], replace: true, at: start + 100).updated == 1)
        #expect(try store.device(id: "a")?.publicKey == first)
        // The later suite wins, whenever it was registered.
        #expect(try store.importDevices([change(third, 3, at: 20)], at: start + 100).updated == 1)
    }

    @Test(.postQuantum) func aDeviceChangesOverAndNeverBack() throws {
        let store = try Home(.memory).store
        let (old, new, late) = (DeviceKey().publicKey, try plainKey(), DeviceKey().publicKey)
        try store.addDevice(registration(old, 1), id: "a", at: start)
        #expect(try store.addDevice(registration(new, 2), id: "a", at: start) == .updated)
        // The record that an attacker kept, and one that he makes.
        #expect(code { try store.addDevice(registration(old, 1), id: "a", at: start) } == .generationRollback)
        #expect(code { try store.addDevice(registration(old, 2), id: "a", at: start) } == .generationRollback)
        #expect(code { try store.addDevice(registration(late, 3), id: "a", at: start) } == .suiteDowngrade)
        let change = DeviceChange.registered(id: "a", registration(late, 3), owner: .unchanged)
        let result = try store.importDevices([change], at: start)
        #expect(result.refused.map(\.error.code) == [.suiteDowngrade])
        #expect(try store.device(id: "a")?.publicKey == new)
        #expect(KeyStoreError(.suiteDowngrade, "").refusal == .suiteDowngrade)

        #expect(try store.addDevice(registration(plainKey(10), 3), id: "a", at: start) == .updated)
        #expect(try store.addDevice(registration(late, 1), id: "a", replace: true, at: start) == .updated)
        #expect(try store.device(id: "a")?.publicKey == late)
    }

    /// What a provider seals for a device follows the newer record.
    @Test(.postQuantum) func nothingIsSealedToTheOlderKey() throws {
        let store = try Home(.memory).store
        let device = try DeviceKey(.xwing)
        try store.addDevice(registration(DeviceKey().publicKey, 1), id: "a", at: start)
        try store.addDevice(registration(device.publicKey, 2), id: "a", at: start)
        let record = try #require(try store.device(id: "a"))
        let sealed = try Sealer(provider: ProviderKey(), topic: .app).seal(
            #"{"aps":{"alert":"x"}}"#.utf8, to: record.publicKey, at: start)
        #expect(sealed.envelope.suite == .xwing && sealed.envelope.recipientKeyID == device.publicKey.id)
    }

    @Test(.postQuantum) func aKeyBelongsToOneDevice() throws {
        let store = try Home(.memory).store
        try store.addDevice(registration(plainKey(9), 1), id: "a", at: start)
        try store.addDevice(registration(plainKey(10), 1), id: "b", at: start)
        #expect(code { try store.addDevice(registration(plainKey(9), 1), id: "c", at: start) } == .keyTaken)
    }

    // MARK: A device's own keys

    @Test(.postQuantum, arguments: DeviceStoreKind.allCases)
    func aDeviceKeyChangesOverAndNeverBack(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        let old = try store.generateDeviceKey(topic: .app, at: start)
        #expect(old.publicKey.suite == .x25519)
        let new = try store.rotateDeviceKey(named: nil, suite: .xwing, at: start)
        #expect(new.publicKey.suite == .xwing && new.state == .pending && new.generation == 2)
        #expect(try store.rotateDeviceKey(at: start) == new)
        for record in [old, new] {
            #expect(try store.deviceKey(id: record.keyID, at: start)?.key.publicKey == record.publicKey)
        }
        #expect(code { try store.rotateDeviceKey(named: nil, suite: .x25519, at: start) } == .suiteDowngrade)
        _ = try store.confirmDeviceKey(acknowledged: new.keyID, at: start)
        #expect(code { try store.rotateDeviceKey(named: nil, suite: .x25519, at: start) } == .suiteDowngrade)
        #expect(try store.rotateDeviceKey(at: start).publicKey.suite == .xwing)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active, .pending])
    }

    @Test(.postQuantum, arguments: DeviceStoreKind.allCases)
    func aPendingKeyOfTheEarlierSuiteComesFirst(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        _ = try store.generateDeviceKey(at: start)
        _ = try store.rotateDeviceKey(at: start)
        #expect(code { try store.rotateDeviceKey(named: nil, suite: .xwing, at: start) } == .rotationRefused)
    }

    @Test(.postQuantum, arguments: DeviceStoreKind.allCases)
    func aRefusedKeyOfSuite2LeavesTheActiveKeyItsSuite(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        _ = try store.generateDeviceKey(at: start)
        let refused = try store.rotateDeviceKey(named: nil, suite: .xwing, at: start)
        try store.retirePendingDeviceKey(refused.publicKey, named: nil, grace: .days(1), at: start)
        let next = try store.rotateDeviceKey(at: start)
        #expect(next.publicKey.suite == .x25519 && next.generation == 3)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRefusedKeyRetiresWhileItIsPending(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        func retire(_ key: DeviceKeyRecord, named name: String? = nil) throws -> Bool {
            try store.retirePendingDeviceKey(key.publicKey, named: name, grace: .days(31), at: start)
        }
        let only = try store.generateDeviceKey(at: start)
        #expect(try !retire(only))
        let pending = try store.rotateDeviceKey(at: start)
        #expect(try !retire(only) && !retire(pending, named: "other"))
        #expect(try retire(pending))
        #expect(try !retire(pending))
        #expect(try store.deviceKeys().map(\.state) == [.active, .retiring])
        #expect(try store.deviceKey(id: pending.keyID, at: start.adding(.days(31))) != nil)
        #expect(try store.deviceKey(id: pending.keyID, at: start.adding(.days(31)) + 1) == nil)
        #expect(try store.rotateDeviceKey(at: start).generation == 3)
    }

    /// One of the provider's servers has accepted the key before another refused it.
    @Test(arguments: DeviceStoreKind.allCases)
    func aRefusedKeyThatIsAcknowledgedBecomesActive(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        let first = try store.generateDeviceKey(at: start)
        let refused = try store.rotateDeviceKey(at: start)
        try store.retirePendingDeviceKey(refused.publicKey, named: nil, grace: .days(31), at: start)
        #expect(try store.confirmDeviceKey(at: start) == nil)
        #expect(try store.confirmDeviceKey(acknowledged: refused.keyID, at: start)?.keyID == refused.keyID)
        #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
        // A key that was replaced never comes back.
        #expect(try store.confirmDeviceKey(acknowledged: first.keyID, at: start) == nil)
        let next = try store.rotateDeviceKey(at: start)
        #expect(try store.confirmDeviceKey(acknowledged: next.keyID, at: start) != nil)
        #expect(try store.confirmDeviceKey(acknowledged: refused.keyID, at: start) == nil)
    }
}

extension DeviceStoreKind {
    fileprivate func postQuantumStore() throws -> any DeviceKeyStore {
        switch self {
        case .disk: try Home(.disk).store
        case .memory: try Home(.memory).store
        case .keychain: KeychainKeyStore(items: ModelKeychain().process("group"), accessGroup: "group")
        }
    }
}
