import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Of one user's devices of an app one has a token, or each push would come twice.
struct TokenTests {
    private func registration(_ token: String) -> DeviceRegistration {
        var registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        registration.token = token
        return registration
    }

    private func ids(_ store: SQLiteKeyStore) throws -> [String] {
        var ids: [String] = []
        try store.forEachDevice { ids.append(try $0.get().id) }
        return ids
    }

    /// The phone's record does not say its token each time.
    @Test func aHeldTokenCountsToo() throws {
        let store = try Home(.memory).store
        let first = registration("aa")
        _ = try store.addDevice(first, id: "a", owner: .user("alice"), at: start)
        // Another store's export says that there are two.
        let export = DeviceChange.registered(
            id: "b", registration("aa"), owner: .user("alice"), updatedAt: start + 1)
        #expect(try store.importDevices([export], at: start + 2).added == 1)
        let warnings = store.check().filter { $0.severity == .warning }.map(\.message)
        #expect(
            warnings == ["devices 'a' and 'b' of user 'alice' have one push token: each push comes twice"])
        var again = first
        again.token = nil
        #expect(try store.addDevice(again, id: "a", at: start + 3) == .unchanged)
        #expect(try ids(store) == ["a"])
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    /// A user may be the name of a tenant with many devices.
    @Test func aTokenIsNotLookedForInAllOfAUsersDevices() throws {
        let home = try Home()
        let plan = try home.raw().rows(
            "EXPLAIN QUERY PLAN SELECT * FROM devices WHERE removed IS NULL AND user = 'a' AND token = x'00'")
        let words = plan.flatMap(\.self).compactMap {
            if case .text(let text) = $0 { String(decoding: text, as: UTF8.self) } else { nil }
        }
        #expect(words.contains { $0.contains("devices_of_users (user=? AND token=?)") }, "\(words)")
    }
}
