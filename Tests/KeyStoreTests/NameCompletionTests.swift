import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The names that completion offers from a store.
struct NameCompletionTests {
    private static func home() throws -> Home {
        let home = try Home()
        for (id, user) in [("a", "zoe"), ("ab", "al"), ("abc", "alice"), ("b", "alice"), ("e\u{301}", nil), ("é", nil)]
        {
            let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
            let owner = user.map { DeviceOwner.user($0) } ?? .unchanged
            _ = try home.store.addDevice(registration, id: id, owner: owner, at: start)
        }
        return home
    }

    @Test(
        "The ids that begin so, in their order, the shortest included",
        arguments: [
            ("", 9, ["a", "ab", "abc", "b", "e\u{301}", "é"]), ("a", 9, ["a", "ab", "abc"]), ("a", 2, ["a", "ab"]),
            ("ab", 9, ["ab", "abc"]), ("abcd", 9, []), ("aa", 9, []), ("e", 9, ["e\u{301}"]), ("é", 9, ["é"]),
            ("%", 9, []),
        ])
    func ids(start: String, count: Int, ids: [String]) throws {
        let found = try Self.home().store.deviceIDs(startingWith: start, count: count)
        #expect(found.map { Array($0.utf8) } == ids.map { Array($0.utf8) })
    }

    @Test(
        "Each user once, and nobody for devices that are nobody's",
        arguments: [("", ["al", "alice", "zoe"]), ("al", ["al", "alice"]), ("ali", ["alice"]), ("x", [])])
    func users(start: String, users: [String]) throws {
        #expect(try Self.home().store.users(startingWith: start, count: 9) == users)
    }

    @Test("An id that somebody has written into the database to pass for a key, or for two lines, is not offered")
    func forged() throws {
        let home = try Self.home()
        for id in ["'pcr1' || 'forged'", "'two' || char(10) || 'lines'"] {
            try home.raw().execute(
                "INSERT INTO devices (id, public_key, generation, created, updated, sequence, key_id, tag) SELECT \(id), public_key, generation, created, updated, sequence, key_id, tag FROM devices WHERE id = 'a'"
            )
        }
        #expect(try home.store.deviceIDs(startingWith: "p", count: 9) == [])
        #expect(try home.store.deviceIDs(startingWith: "t", count: 9) == [])
    }
}
