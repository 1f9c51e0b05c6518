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

/// A provider's devices with keys of suite 2. [D-23, D-24]
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
        // Another store's record is kept: that one can seal to it.
        let result = try store.importDevices(
            [.registered(id: "a", registration(key, 1), owner: .nobody, updatedAt: start)], at: start)
        #expect(result.added == 1)
        #expect(try store.device(id: "a")?.publicKey == key)
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
        let sealed = try Sealer(sender: SenderKey(), topic: .app).seal(
            #"{"aps":{"alert":"x"}}"#.utf8, to: record.publicKey, at: start)
        #expect(sealed.envelope.suite == .xwing && sealed.envelope.recipientKeyID == device.publicKey.id)
    }

    @Test(.postQuantum) func aKeyBelongsToOneDevice() throws {
        let store = try Home(.memory).store
        // The first bytes are alike, which the index has.
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
    func aRefusedKeyIsDiscardedWhileItIsPending(_ kind: DeviceStoreKind) throws {
        let store = try kind.postQuantumStore()
        let only = try store.generateDeviceKey(named: "default", topic: nil, suite: .xwing, at: start)
        #expect(try !store.discardPendingDeviceKey(only.publicKey, named: nil))
        let pending = try store.rotateDeviceKey(at: start)
        #expect(try !store.discardPendingDeviceKey(only.publicKey, named: nil))
        #expect(try !store.discardPendingDeviceKey(pending.publicKey, named: "other"))
        #expect(try store.discardPendingDeviceKey(pending.publicKey, named: nil))
        #expect(try !store.discardPendingDeviceKey(pending.publicKey, named: nil))
        #expect(try store.deviceKeys() == [only])
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
