import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The layout of a store: a newer and an older one are refused.
struct LayoutTests {
    @Test(arguments: [Schema.version + 1, 99, 2_147_483_647])
    func aNewerStoreIsLeftAlone(_ version: Int) throws {
        let home = try Home()
        try home.raw().execute("PRAGMA user_version = \(version)")
        #expect(code { try home.reopened() } == .newerVersion)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(version))
    }

    @Test(arguments: [1, 2, Schema.version - 1])
    func anOlderStoreIsLeftAlone(_ version: Int) throws {
        let home = try Home()
        try home.raw().execute("PRAGMA user_version = \(version)")
        let refused = error { try home.reopened() }
        #expect(refused?.code == .olderVersion)
        #expect(refused?.description.contains("create a new store, and register the devices again") == true)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(version))
    }

    /// A connection that a process already has notices it too.
    @Test func anotherConnectionRefusesAnotherLayout() throws {
        let home = try Home()
        try home.raw().execute("PRAGMA user_version = 3")
        #expect(code { try home.store.anotherConnection() } == .olderVersion)
    }

    @Test func aDatabaseWithoutALayoutIsNoStore() throws {
        let home = try Home()
        try home.raw().execute("PRAGMA user_version = 0")
        #expect(code { try home.reopened() } == .corruptStore)
    }
}
