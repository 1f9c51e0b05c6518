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
