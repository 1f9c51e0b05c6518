import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Registrations with damaged rows, absent members, wrong clocks and provider keys of somebody else.
struct RegistrationTests {
    private func registration() -> DeviceRegistration {
        DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
    }

    @Test func aDamagedRowHoldsNoKey() throws {
        let home = try Home()
        let registration = registration()
        _ = try home.store.addDevice(registration, id: "a", at: start)
        try home.raw().execute("UPDATE devices SET user = 'mallory'")
        #expect(try home.store.addDevice(registration, id: "b", at: start) == .added)
    }

    /// A phone may register before APNs has given it a token.
    @Test func aRegistrationWithoutATokenKeepsTheTokenAndItsEnvironment() throws {
        let store = try Home(.memory).store
        var registration = registration()
        (registration.token, registration.environment) = ("0a1b", .development)
        _ = try store.addDevice(registration, id: "a", at: start)
        func device() throws -> (token: String?, environment: PushEnvironment?) {
            let device = try #require(try store.device(id: "a"))
            return (device.token, device.environment)
        }
        (registration.token, registration.environment) = (nil, nil)
        #expect(try store.addDevice(registration, id: "a", at: start + 1) == .unchanged)
        #expect(try device() == ("0a1b", .development))
        _ = try store.importDevices([.registered(id: "a", registration)], at: start + 2)
        #expect(try device() == ("0a1b", .development))
        // An environment belongs to a token.
        registration.token = "2c3d"
        _ = try store.addDevice(registration, id: "a", at: start + 3)
        #expect(try device() == ("2c3d", nil))
        registration.token = nil
        _ = try store.addDevice(registration, id: "a", replace: true, at: start + 4)
        #expect(try device() == (nil, nil))
    }

    // MARK: Times that a wrong clock has left

    @Test func aRegistrationFromTheFutureIsNoLaterThanARemoval() throws {
        let store = try Home(.memory).store
        let year: UInt64 = 365 * 86_400_000
        let registration = registration()
        _ = try store.addDevice(registration, id: "a", at: start + year)
        _ = try store.addDevice(registration, id: "a", at: start)
        #expect(try store.device(id: "a")?.updatedAt == start)
        _ = try store.addDevice(registration, id: "a", at: start + year)
        let gone = LostDevice(id: "a", at: start, reason: "unregistered")
        #expect(try store.removeDevices([gone], at: start).removed == 1)
    }

    @Test func aRemovalFromTheFutureKeepsNoDeviceOut() throws {
        let store = try Home(.memory).store
        let registration = registration()
        _ = try store.addDevice(registration, id: "a", at: start)
        _ = try store.removeDevice(id: "a", at: start + 365 * 86_400_000)
        let change = DeviceChange.registered(id: "a", registration, updatedAt: start + 5)
        #expect(try store.importDevices([change], at: start + 10).added == 1)
    }

    // MARK: Provider keys of somebody else

    @Test func aKeyThatTheStoreNeverHadIsForeign() throws {
        let store = try Home(.memory).store
        let other = ProviderKey().publicKey
        #expect(try store.foreignMemberTest()(other) == [], "a store without provider keys knows nothing")
        let first = try store.generateProviderKey(named: "one", topic: .app, at: start).publicKey
        try store.rotateSigningKey(named: "one", at: start)
        let second = try store.generateProviderKey(named: "two", at: start).publicKey
        let foreign = try store.foreignMemberTest()
        for key in [first, second, nil] { #expect(foreign(key) == []) }
        #expect(foreign(other) == [.provider])
    }

    /// A list of devices goes on after a changed row: somebody who can change it could hide a device as well.
    @Test func aDamagedProviderKeyMakesNoKeyUnknown() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        _ = try home.store.generateProviderKey(named: "other", at: start)
        try home.raw().execute("UPDATE states SET sealed = zeroblob(length(sealed))")
        #expect(try home.reopened().foreignMemberTest()(ProviderKey().publicKey) == [])
    }
}
