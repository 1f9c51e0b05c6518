import PostQuantum
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider's devices with keys of suite 2. [D-29, D-30]
struct PostQuantumStoreTests {
    private func registration(_ key: DevicePublicKey, _ generation: UInt64) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, suites: [1, 2], generation: generation, createdAt: start)
    }

    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aKeyThatCannotBeSealedToIsRefused() throws {
        let store = try Home(.memory).store
        let key = try DevicePublicKey.postQuantum()
        #expect(code { try store.addDevice(registration(key, 1), id: "a", at: start) } == .unsupportedSuite)
        let replaced = code { try store.addDevice(registration(key, 1), id: "a", replace: true, at: start) }
        #expect(replaced == .unsupportedSuite)
        #expect(try store.device(id: "a") == nil)
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
        let key = try DevicePublicKey.postQuantum()
        _ = try store.importDevices([.registered(id: "a", registration(key, 2), updatedAt: start)], at: start)
        for replace in [false, true] {
            _ = try store.addDevice(registration(key, 2), id: "a", replace: replace, at: start)
            #expect(try store.device(id: "a")?.publicKey == key)
            let other = registration(try .postQuantum(10), 3)
            #expect(code { try store.addDevice(other, id: "a", replace: replace, at: start) } == .unsupportedSuite)
        }
        #expect(try store.importDevices([.registered(id: "a", registration(key, 2))], at: start).unchanged == 1)
    }

    /// A device repeats an old record at another store, whose export is then the later one.
    @Test func noExportTakesADeviceBack() throws {
        let store = try Home(.memory).store
        let (first, second, third) = (DeviceKey().publicKey, DeviceKey().publicKey, try DevicePublicKey.postQuantum())
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
        let (old, new, late) = (DeviceKey().publicKey, try DevicePublicKey.postQuantum(), DeviceKey().publicKey)
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

        #expect(try store.addDevice(registration(.postQuantum(10), 3), id: "a", at: start) == .updated)
        #expect(try store.addDevice(registration(late, 1), id: "a", replace: true, at: start) == .updated)
        #expect(try store.device(id: "a")?.publicKey == late)
    }

    /// The provider seals to the key of the newer record.
    @Test(.postQuantum) func nothingIsSealedToTheOlderKey() throws {
        let store = try Home(.memory).store
        let device = try DeviceKey(.xwing)
        try store.addDevice(registration(DeviceKey().publicKey, 1), id: "a", at: start)
        try store.addDevice(registration(device.publicKey, 2), id: "a", at: start)
        let record = try #require(try store.device(id: "a"))
        let sealed = try Sealer(provider: ProviderKey(), topic: .app).seal(
            Sealer.Message(#"{"aps":{"alert":"x"}}"#.utf8), to: record.publicKey, at: start)
        #expect(sealed.envelope.suite == .xwing && sealed.envelope.recipientKeyID == device.publicKey.id)
    }

    @Test(.postQuantum) func aKeyBelongsToOneDevice() throws {
        let store = try Home(.memory).store
        try store.addDevice(registration(.postQuantum(9), 1), id: "a", at: start)
        try store.addDevice(registration(.postQuantum(10), 1), id: "b", at: start)
        #expect(code { try store.addDevice(registration(.postQuantum(9), 1), id: "c", at: start) } == .keyTaken)
    }

    // MARK: A device's own keys

    /// A state with an active key of suite 1 and a pending one of suite 2, with which this build need not compute.
    private func changingOver() throws -> DeviceState {
        var state = DeviceState()
        let key = try state.add(at: start)
        state.accounts[0].keys.append(
            DeviceState.Key(
                publicKey: try .postQuantum(), generation: 2, state: .pending, createdAt: start, secret: key.secret))
        return state
    }

    @Test func aDeviceKeyChangesOverAndNeverBack() throws {
        var state = try changingOver()
        let new = state.keys[1]
        for suite in [nil, CipherSuite.xwing] { #expect(try state.rotate(suite: suite, at: start) == new) }
        #expect(code { try state.rotate(suite: .x25519, at: start) } == .suiteDowngrade)
        #expect(try state.confirm(acknowledged: new.keyID, at: start) != nil)
        #expect(code { try state.rotate(suite: .x25519, at: start) } == .suiteDowngrade)
        let asked = try suiteOfTheNext(&state)
        #expect(asked == .xwing)
    }

    /// Returns the suite that a rotation asks for if its caller names none.
    private func suiteOfTheNext(_ state: inout DeviceState) throws -> CipherSuite? {
        final class Asked { var suite: CipherSuite? }
        let asked = Locked(Asked())
        try state.rotate(nil, suite: nil, at: start) { suite in
            asked.withLock { $0.suite = suite }
            return DeviceKey()
        }
        return asked.withLock { $0.suite }
    }

    @Test func aPendingKeyOfTheEarlierSuiteComesFirst() throws {
        var state = DeviceState()
        try state.add(at: start)
        try state.rotate(at: start)
        #expect(code { try state.rotate(suite: .xwing, at: start) } == .rotationRefused)
    }

    @Test func aRefusedKeyOfSuite2LeavesTheActiveKeyItsSuite() throws {
        var state = try changingOver()
        #expect(state.refuse(try .postQuantum(), of: "default", at: start) == true)
        let asked = try suiteOfTheNext(&state)
        #expect(asked == .x25519 && state.keys.last?.generation == 3)
    }

    /// A build without X-Wing keeps a key that it cannot use.
    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aKeyThatThisBuildCannotUseStays() throws {
        var state = try changingOver()
        #expect(try state.readBack() == state)
        #expect(code { try state.keys[1].deviceKey() } == .unsupportedSuite)
        #expect(try state.keys[0].deviceKey().publicKey == state.keys[0].publicKey)
        #expect(code { try state.rotate("default", suite: .xwing, at: start) } == nil, "it is pending already")
        #expect(state.removeAccount("default").count == 2)
        try state.add(at: start)
        #expect(code { try state.rotate(suite: .xwing, at: start) } == .unsupportedSuite)
        #expect(state.keys.map(\.state) == [.active])
    }

    @Test(.postQuantum) func aDeviceKeyOfSuite2IsMadeAndOpened() throws {
        var state = DeviceState()
        try state.add(at: start)
        let new = try state.rotate(suite: .xwing, at: start)
        #expect(new.publicKey.suite == .xwing && new.state == .pending && new.generation == 2)
        #expect(try state.readBack().keys[1].deviceKey().publicKey == new.publicKey)
        // The public key must be that of the seed.
        state.accounts[0].keys[1] = DeviceState.Key(
            publicKey: try .postQuantum(), generation: 2, state: .pending, createdAt: start, secret: new.secret)
        #expect(code { try state.keys[1].deviceKey() } == .corruptStore)
    }
}
