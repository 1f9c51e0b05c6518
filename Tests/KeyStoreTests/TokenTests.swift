import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Of one user's devices of an app one has a token, or each push would come twice.
struct TokenTests {
    private func registration(
        _ token: String?, topic: Topic? = nil, created: Timestamp = start
    ) -> DeviceRegistration {
        var registration = DeviceRegistration(publicKey: DeviceKey().publicKey, topic: topic, createdAt: created)
        registration.token = token
        return registration
    }

    private func ids(_ store: SQLiteKeyStore) throws -> [String] {
        var ids: [String] = []
        try store.forEachDevice { ids.append(try $0.get().id) }
        return ids
    }

    @Test(arguments: StoreKind.allCases)
    func theNewerRegistrationHasTheToken(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        _ = try store.addDevice(registration("aa"), id: "old", owner: .user("alice"), at: start)
        _ = try store.addDevice(registration("aa"), id: "new", owner: .user("alice"), at: start + 1)
        #expect(try ids(store) == ["new"])
        let removed = try #require(try store.held("old")?.removed)
        #expect(removed.reason == "token-moved" && removed.user == "alice" && removed.removedAt == start + 1)
        // The same phone under its earlier id takes it back.
        _ = try store.addDevice(registration("aa"), id: "other", owner: .user("alice"), at: start + 2)
        #expect(try ids(store) == ["other"])
    }

    @Test func twoUsersTwoAppsAndNobodyShareATokenInPeace() throws {
        let store = try Home(.memory).store
        for (id, owner, topic) in [
            ("a", .user("alice"), try .app), ("b", .user("bob"), try .app), ("c", .user("alice"), try .other),
            ("d", .nobody, nil), ("e", .nobody, nil),
        ] as [(String, DeviceOwner, Topic?)] {
            _ = try store.addDevice(registration("aa", topic: topic), id: id, owner: owner, at: start)
        }
        #expect(try ids(store) == ["a", "b", "c", "d", "e"])
        #expect(store.check().allSatisfy { !$0.message.contains("push token") })
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

    /// Lines have no order in time, but keys have.
    @Test(arguments: [false, true]) func ofTwoLinesTheYoungerKeyHasTheToken(_ isReversed: Bool) throws {
        let store = try Home(.memory).store
        let times = isReversed ? [start + 9, start] : [start, start + 9]
        let lines = zip(["a", "b"], times).map { id, time in
            DeviceChange.registered(id: id, registration("aa", created: time), owner: .user("alice"))
        }
        let result = try store.importDevices(lines, at: start + 10)
        #expect(result.added == (isReversed ? 1 : 2) && result.stale == (isReversed ? 1 : 0))
        #expect(try ids(store) == [isReversed ? "a" : "b"])
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
