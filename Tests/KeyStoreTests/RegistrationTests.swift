import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Permissions to register: attempts to take another user's device, to lock a device out, and to share a key.
struct RegistrationTests {
    private func registration(
        _ key: DevicePublicKey = DeviceKey().publicKey, generation: UInt64 = 1, pinned: ProviderPublicKey? = nil
    ) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, generation: generation, createdAt: start, pinnedProvider: pinned)
    }

    // MARK: Users

    @Test func aDeviceDoesNotChangeItsUser() throws {
        let store = try Home(.memory).store
        let alices = registration()
        _ = try store.addDevice(alices, id: "a", owner: .user("alice"), at: start)
        let bobs = registration(generation: 2)
        #expect(code { try store.addDevice(bobs, id: "a", owner: .user("bob"), at: start) } == .userMismatch)
        #expect(code { try store.addDevice(alices, id: "a", owner: .user("bob"), at: start) } == .userMismatch)
        let result = try store.importDevices([.registered(id: "a", bobs, owner: .user("bob"))], at: start)
        #expect(result.refused.map(\.error.code) == [.userMismatch])
        let device = try #require(try store.device(id: "a"))
        #expect(device.user == "alice" && device.publicKey == alices.publicKey)
        #expect(try store.addDevice(bobs, id: "a", owner: .user("bob"), replace: true, at: start) == .updated)
        #expect(try store.device(id: "a")?.user == "bob")
    }

    /// A session without a user must not take the device of one.
    @Test func nobodyTakesTheDeviceOfAUser() throws {
        let store = try Home(.memory).store
        let (alices, bobs) = (registration(), registration(generation: 2))
        _ = try store.addDevice(alices, id: "a", owner: .user("alice"), at: start)
        #expect(code { try store.addDevice(bobs, id: "a", owner: .nobody, at: start) } == .userMismatch)
        let result = try store.importDevices([.registered(id: "a", bobs, owner: .nobody)], at: start)
        #expect(result.refused.map(\.error.code) == [.userMismatch])
        #expect(try store.device(id: "a")?.publicKey == alices.publicKey && store.device(id: "a")?.user == "alice")
        #expect(try store.addDevice(bobs, id: "a", owner: .nobody, replace: true, at: start) == .updated)
        #expect(try store.device(id: "a")?.user == nil)
    }

    /// The caller that does not name a user is no user's session.
    @Test func anotherKeyNeedsTheUser() throws {
        let store = try Home(.memory).store
        let alices = registration()
        _ = try store.addDevice(alices, id: "a", owner: .user("alice"), at: start)
        let other = registration(generation: 2)
        #expect(code { try store.addDevice(other, id: "a", at: start) } == .userMismatch)
        #expect(try store.addDevices([("a", other, nil, .unchanged)], at: start).map { $0?.code } == [.userMismatch])
        #expect(try store.addDevice(alices, id: "a", at: start) == .unchanged)
        #expect(try store.device(id: "a")?.user == "alice")
        try store.removeDevice(id: "a", at: start)
        #expect(code { try store.addDevice(other, id: "a", at: start + 1) } == .userMismatch)
        #expect(try store.addDevice(alices, id: "a", at: start + 1) == .added)
        #expect(try store.device(id: "a")?.user == "alice")
    }

    /// A user cannot take a device that an operator added, held or removed.
    @Test func aDeviceWithoutAUserIsGivenOneByTheOperatorAlone() throws {
        let store = try Home(.memory).store
        let registration = registration()
        _ = try store.addDevice(registration, id: "a", at: start)
        #expect(code { try store.addDevice(registration, id: "a", owner: .user("alice"), at: start) } == .userMismatch)
        try store.removeDevice(id: "a", at: start)
        #expect(
            code { try store.addDevice(registration, id: "a", owner: .user("alice"), at: start + 1) } == .userMismatch)
        #expect(
            try store.addDevice(registration, id: "a", owner: .user("alice"), replace: true, at: start + 1) == .added)
        #expect(try store.addDevice(registration, id: "a", at: start + 1) == .unchanged)
        #expect(try store.device(id: "a")?.user == "alice")
        #expect(try store.addDevice(registration, id: "a", owner: .nobody, at: start) == .updated)
        #expect(try store.device(id: "a")?.user == nil)
    }

    // MARK: Generations

    @Test(arguments: [(1, true), (1024, true), (1025, false), (1 << 53 - 1, false), (.max, false)] as [(UInt64, Bool)])
    func aFirstGenerationIsSmall(_ generation: UInt64, _ isAccepted: Bool) throws {
        let store = try Home(.memory).store
        let found = code { try store.addDevice(registration(generation: generation), id: "a", at: start) }
        #expect(found == (isAccepted ? nil : .generationTooHigh))
        #expect(try store.deviceCount() == (isAccepted ? 1 : 0))
    }

    @Test func aGenerationGrowsByLittle() throws {
        let store = try Home(.memory).store
        _ = try store.addDevice(registration(generation: 10), id: "a", at: start)
        #expect(code { try store.addDevice(registration(generation: 1035), id: "a", at: start) } == .generationTooHigh)
        #expect(try store.addDevice(registration(generation: 1034), id: "a", at: start) == .updated)
        #expect(try store.addDevice(registration(generation: 5000), id: "a", replace: true, at: start) == .updated)
        let result = try store.importDevices([.registered(id: "a", registration(generation: .max))], at: start)
        #expect(result.refused.map(\.error.code) == [.generationTooHigh])
        #expect(try store.device(id: "a")?.generation == 5000)
    }

    @Test func theLastGenerationsDoNotOverflow() throws {
        let store = try Home(.memory).store
        _ = try store.addDevice(registration(generation: .max - 1), id: "a", replace: true, at: start)
        #expect(try store.addDevice(registration(generation: .max), id: "a", at: start) == .updated)
    }

    // MARK: One key, one device

    @Test func aKeyMovesBetweenDevicesOfOneUser() throws {
        let store = try Home(.memory).store
        let registration = registration()
        _ = try store.addDevice(registration, id: "old", owner: .user("alice"), at: start)
        #expect(try store.addDevice(registration, id: "new", owner: .user("alice"), at: start + 1) == .added)
        #expect(try store.device(id: "old") == nil)
        var removed: [RemovedDevice] = []
        try store.forEachRemovedDevice { removed.append(try $0.get()) }
        #expect(removed.map(\.id) == ["old"] && removed.map(\.reason) == ["key-moved"])
    }

    @Test(arguments: [("alice", "bob"), ("alice", nil), (nil, "bob"), (nil, nil)] as [(String?, String?)])
    func aKeyOfSomebodyElseIsRefused(_ holder: String?, _ other: String?) throws {
        func owner(_ user: String?) -> DeviceOwner { user.map(DeviceOwner.user) ?? .nobody }
        let store = try Home(.memory).store
        let held = registration()
        _ = try store.addDevice(held, id: "a", owner: owner(holder), at: start)
        #expect(code { try store.addDevice(held, id: "b", owner: owner(other), at: start) } == .keyTaken)
        #expect(
            code { try store.addDevice(held, id: "b", owner: owner(other), replace: true, at: start) } == .keyTaken)
        let result = try store.importDevices([.registered(id: "b", held, owner: owner(other))], at: start)
        #expect(result.refused.map(\.error.code) == [.keyTaken])
        // A device that is there may not take it either.
        _ = try store.addDevice(registration(), id: "b", owner: owner(other), at: start)
        let next = registration(held.publicKey, generation: 2)
        #expect(code { try store.addDevice(next, id: "b", owner: owner(other), at: start) } == .keyTaken)
        #expect(try store.device(id: "a")?.publicKey == held.publicKey)
        // Once the other is gone, it may.
        _ = try store.removeDevice(id: "a", at: start)
        #expect(try store.addDevice(next, id: "b", owner: owner(other), at: start) == .updated)
    }

    /// A key that several devices hold, as imports of two stores can leave it, is taken from all of them or from none.
    @Test func aRefusedChangeLeavesEverythingAsItWas() throws {
        let store = try Home(.memory).store
        let held = registration()
        _ = try store.importDevices(
            [
                .registered(id: "a", held, owner: .user("alice"), updatedAt: start),
                .registered(id: "b", held, owner: .user("bob"), updatedAt: start),
                .registered(id: "c", registration(), owner: .user("alice"), updatedAt: start),
                .removed(RemovedDevice(id: "d", removedAt: start)),
            ], at: start)
        let later = DeviceRegistration(publicKey: held.publicKey, generation: 2, createdAt: start + 1)
        for (id, replace) in [("c", false), ("c", true), ("d", false), ("d", true)] {
            let change = DeviceChange.registered(id: id, later, owner: .user("alice"))
            let result = try store.importDevices([change], replace: replace, at: start + 2)
            #expect(result.refused.map(\.error.code) == [.keyTaken], "\(id) \(replace)")
        }
        var removed: [String] = []
        try store.forEachRemovedDevice { removed.append(try $0.get().id) }
        #expect(removed == ["d"])
        #expect(try ["a", "b", "c"].map { try store.device(id: $0)?.generation } == [1, 1, 1])
    }

    @Test func aDamagedRowHoldsNoKey() throws {
        let home = try Home()
        let registration = registration()
        _ = try home.store.addDevice(registration, id: "a", at: start)
        try home.raw().execute("UPDATE devices SET user = 'mallory'")
        #expect(try home.store.addDevice(registration, id: "b", at: start) == .added)
    }

    // MARK: Absent members

    @Test func aRegistrationKeepsVersionGrantAndUpdateKeyThatItLacks() throws {
        let store = try Home(.memory).store
        let updateKey = SigningKey().publicKey
        let bare = registration()
        var first = bare
        (first.appVersion, first.grant) = (AppVersion("1.0"), "abc_-")
        (first.updateKey, first.sequence) = (updateKey, 7)
        _ = try store.addDevice(first, id: "a", at: start)
        #expect(try store.addDevice(bare, id: "a", at: start + 1) == .unchanged)
        let kept = try #require(try store.device(id: "a"))
        #expect(kept.appVersion == AppVersion("1.0") && kept.grant == "abc_-" && kept.updateKey == updateKey)
        #expect(kept.sequence == 7)
        _ = try store.addDevice(bare, id: "a", replace: true, at: start + 2)
        let other = try #require(try store.device(id: "a"))
        #expect(other.appVersion == nil && other.grant == nil && other.updateKey == nil)
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
