import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A device's keys: names, the default, and what opens.
struct DeviceKeyTests {
    @Test(arguments: DeviceStoreKind.allCases)
    func theFirstKeyIsActiveAndTheDefault(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let record = try store.generateDeviceKey(topic: .app, at: start)
        #expect(record.name == "default")
        #expect(record.topic?.bundleID == "com.example.app")
        #expect(record.generation == 1)
        #expect(record.state == .active)
        #expect(record.createdAt == start)
        #expect(record.retiresAt == nil)
        #expect(record.isDefault)
        #expect(record.keyID == record.publicKey.id)
        #expect(try store.deviceKeys() == [record])
        #expect(try store.deviceKeys(named: nil) == [record])
        let found = try #require(try store.deviceKey(id: record.keyID, at: start))
        #expect(found.record == record)
        #expect(found.key.publicKey == record.publicKey)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func anImportedKeyIsTheKeyThatWasGiven(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let key = DeviceKey()
        let record = try store.importDeviceKey(key, named: "work", at: start)
        #expect(record.publicKey == key.publicKey)
        #expect(record.generation == 1 && record.state == .active && record.topic == nil)
        #expect(try store.deviceKey(id: record.keyID, at: start)?.key.scalar == key.scalar)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aStoreHoldsAKeyForEachAccount(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let first = try store.generateDeviceKey(named: "first", topic: .app, at: start)
        let second = try store.generateDeviceKey(named: "second", topic: .other, at: start)
        #expect(first.isDefault && !second.isDefault)
        #expect(try store.deviceKeys(named: nil) == [first])
        #expect(try store.deviceKeys(named: "second") == [second])
        try store.setDefaultDeviceKey(named: "second")
        #expect(try store.deviceKeys(named: nil).map(\.name) == ["second"])
        #expect(try store.deviceKeys().map(\.isDefault) == [false, true])
        #expect(try store.deviceKey(id: second.keyID, at: start)?.record.isDefault == true)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func whatCannotBeMeantIsRefused(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        #expect(code { try store.deviceKeys(named: nil) } == .unknownName)
        #expect(code { try store.rotateDeviceKey(at: start) } == .unknownName)
        #expect(code { try store.confirmDeviceKey(at: start) } == .unknownName)
        #expect(code { try store.setDefaultDeviceKey(named: "nobody") } == .unknownName)

        let one = try store.generateDeviceKey(named: "one", at: start)
        #expect(code { try store.generateDeviceKey(named: "one", at: start) } == .nameTaken)
        #expect(code { try store.importDeviceKey(DeviceKey(), named: "one", at: start) } == .nameTaken)
        #expect(try store.deviceKey(id: KeyID(value: one.keyID.value ^ 1), at: start) == nil)
        #expect(try store.deviceKeys() == [one])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func whenTheDefaultIsGoneAndSeveralAreLeftOneMustBeNamed(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        for name in ["a", "b", "c"] { _ = try store.generateDeviceKey(named: name, at: start) }
        _ = try store.purgeDeviceKeys(named: "a")
        let error = error { try store.deviceKeys(named: nil) }
        #expect(error?.code == .ambiguousName)
        #expect(error?.description.contains("b, c") == true)
        _ = try store.purgeDeviceKeys(named: "b")
        #expect(try store.deviceKeys(named: nil).map(\.name) == ["c"])
        #expect(try store.deviceKeys().map(\.isDefault) == [true])
    }

    @Test(
        arguments: DeviceStoreKind.allCases,
        ["", "a\u{0}b", "line\nbreak", "\u{7f}", "\u{85}", String(repeating: "x", count: 256)])
    func aNameThatATerminalCannotTakeIsRefused(_ kind: DeviceStoreKind, _ name: String) throws {
        let store = try kind.store()
        #expect(code { try store.generateDeviceKey(named: name, at: start) } == .invalidName)
        #expect(code { try store.importDeviceKey(DeviceKey(), named: name, at: start) } == .invalidName)
        #expect(code { try store.pinProvider(ProviderKey().publicKey, for: name, at: start) } == .invalidName)
        #expect(try store.deviceKeys().isEmpty && store.pinnedProviders().isEmpty)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func namesAreBytes(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let composed = try store.generateDeviceKey(named: "caf\u{e9}", at: start)
        let decomposed = try store.generateDeviceKey(named: "cafe\u{301}", at: start)
        #expect(composed.isDefault && !decomposed.isDefault)
        #expect(try store.deviceKeys(named: "cafe\u{301}") == [decomposed])
        let longest = String(repeating: "x", count: 255)
        #expect(try store.generateDeviceKey(named: longest, at: start).name == longest)
    }

    // MARK: One candidate for each id

    @Test(arguments: DeviceStoreKind.allCases)
    func anImportOfAnIDThatIsHeldIsRefused(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let key = DeviceKey()
        let record = try store.importDeviceKey(key, named: "one", at: start)
        #expect(code { try store.importDeviceKey(key, named: "two", at: start) } == .keyIDTaken)
        #expect(try store.deviceKeys() == [record])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aGeneratedKeyWithAnIDThatIsHeldIsMadeAgain(_ kind: DeviceStoreKind) throws {
        let first = DeviceKey()
        let second = DeviceKey()
        let source = Locked(KeySource([first, first, first, second]))
        let store = try kind.store { source.withLock { $0.next() } }
        #expect(try store.generateDeviceKey(at: start).publicKey == first.publicKey)
        #expect(try store.rotateDeviceKey(at: start).publicKey == second.publicKey)
    }

    private final class KeySource {
        private var keys: [DeviceKey]
        init(_ keys: [DeviceKey]) { self.keys = keys.reversed() }
        func next() -> DeviceKey { keys.popLast() ?? DeviceKey() }
    }

    @Test func whatIsStoredIsThereAfterAnotherOpening() throws {
        let home = try Home()
        let key = DeviceKey()
        let record = try home.store.importDeviceKey(key, named: "phone", topic: .app, at: start)
        let pending = try home.store.rotateDeviceKey(at: start + 5)
        let reopened = try home.reopened()
        #expect(try reopened.deviceKeys() == [record, pending])
        #expect(try reopened.deviceSecret(named: "phone").scalar == key.scalar)
    }

    // MARK: Export

    @Test func theActiveKeyIsExported() throws {
        let store = try Home(.memory).store
        #expect(code { try store.deviceSecret(named: "nobody") } == .unknownName)
        let key = DeviceKey()
        _ = try store.importDeviceKey(key, named: "work", at: start)
        let pending = try store.rotateDeviceKey(at: start)
        #expect(try store.deviceSecret(named: "work").scalar == key.scalar)
        _ = try store.confirmDeviceKey(at: start)
        #expect(try store.deviceSecret(named: nil).publicKey == pending.publicKey)
    }

    // MARK: A default whose keys are gone

    @Test func aDefaultNameThatOutlivedItsKeysIsUnknown() throws {
        let home = try Home()
        _ = try home.store.generateDeviceKey(at: start)
        try home.raw().execute("DELETE FROM device_keys")
        #expect(code { try home.store.rotateDeviceKey(at: start) } == .unknownName)
        #expect(try home.store.confirmDeviceKey(at: start) == nil)
        #expect(try home.store.purgeDeviceKeys(named: nil).isEmpty)
        #expect(try home.store.generateDeviceKey(at: start).isDefault)
    }
}
