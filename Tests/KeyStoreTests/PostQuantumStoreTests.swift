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
