import Dispatch
import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// How a store of one version becomes a store of the next.
struct MigrationTests {
    private static func options(_ more: [String]) -> StoreOptions {
        var options = StoreOptions.quick
        options.migrations += more
        return options
    }

    @Test func theVersionCountsMigrations() throws {
        let home = try Home()
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count))
    }

    @Test func anOlderStoreIsBroughtUpWithAllItHolds() throws {
        let home = try Home()
        let record = try home.store.generateDeviceKey(now: start)
        let next = Self.options(["CREATE TABLE extra (a)", "INSERT INTO extra VALUES (1); CREATE TABLE more (b)"])
        #expect(try home.reopened(options: next).deviceKeys() == [record])
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count + 2))
        #expect(try home.reopened(options: next).deviceKeys() == [record])
        #expect(try home.raw().integer("SELECT count(*) FROM extra") == 1)
    }

    @Test func aNewerStoreIsLeftAlone() throws {
        let home = try Home()
        _ = try home.reopened(options: Self.options(["CREATE TABLE extra (a)"]))
        #expect(code { try home.reopened() } == .newerVersion)
        try home.raw().execute("PRAGMA user_version = 2147483647")
        #expect(code { try home.reopened() } == .newerVersion)
    }

    @Test func aMigrationThatFailsHasNotHappened() throws {
        let home = try Home()
        let record = try home.store.generateDeviceKey(now: start)
        let broken = Self.options(["CREATE TABLE good (a)", "CREATE TABLE half (a); SELECT no_such_function()"])
        #expect(code { try home.reopened(options: broken) } == .corruptStore)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count + 1))
        #expect(
            try home.raw().rows("SELECT name FROM sqlite_schema WHERE name IN ('good', 'half')") == [[.text("good")]])
        let mended = Self.options(["CREATE TABLE good (a)", "CREATE TABLE half (a)"])
        #expect(try home.reopened(options: mended).deviceKeys() == [record])
    }

    @Test func aStoreIsNotChangedBeforeItsKeyHasProvedIt() throws {
        let home = try Home()
        try writeFile(home.scratch.file("store.key"), Bytes(repeating: 1, count: 32))
        #expect(code { try home.reopened(options: Self.options(["CREATE TABLE extra (a)"])) } == .wrongPassphrase)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count))
    }

    @Test func aStoreThatAnotherProcessMigratesMeanwhileIsNotMigratedTwice() throws {
        let home = try Home()
        var options = Self.options(["CREATE TABLE extra (a); INSERT INTO extra VALUES (1)"])
        options.busyTimeout = 20_000
        let other = try home.raw()
        try other.execute("BEGIN IMMEDIATE")
        let opened = Locked(Flag())
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) { [options] in
            let isOpen = (try? home.reopened(options: options)) != nil
            opened.withLock { $0.value = isOpen }
        }
        // By then it has seen the old version, and waits to change it.
        usleep(300_000)
        try other.execute(
            "\(options.migrations[Schema.migrations.count]); PRAGMA user_version = \(options.migrations.count); COMMIT")
        group.wait()
        #expect(opened.withLock { $0.value })
        #expect(try home.raw().integer("SELECT count(*) FROM extra") == 1)
    }

    private final class Flag { var value = false }
}
