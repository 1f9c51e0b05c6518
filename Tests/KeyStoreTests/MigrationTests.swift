import Glibc
import Pushcrypt
import Testing
import Waiting

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
        let record = try home.store.generateDeviceKey(at: start)
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
        let record = try home.store.generateDeviceKey(at: start)
        let broken = Self.options(["CREATE TABLE good (a)", "CREATE TABLE half (a); SELECT no_such_function()"])
        #expect(code { try home.reopened(options: broken) } == .corruptStore)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count + 1))
        #expect(
            try home.raw().rows("SELECT name FROM sqlite_schema WHERE name IN ('good', 'half')") == [[.text("good")]])
        let fixed = Self.options(["CREATE TABLE good (a)", "CREATE TABLE half (a)"])
        #expect(try home.reopened(options: fixed).deviceKeys() == [record])
    }

    @Test func aStoreIsNotChangedBeforeItsKeyHasProvedIt() throws {
        let home = try Home()
        try writeFile(home.scratch.file("store.key"), Bytes(repeating: 1, count: 32))
        #expect(code { try home.reopened(options: Self.options(["CREATE TABLE extra (a)"])) } == .wrongPassphrase)
        #expect(try home.raw().integer("PRAGMA user_version") == Int64(Schema.migrations.count))
    }

    @Test func aStoreThatAnotherProcessMigratesMeanwhileIsNotMigratedTwice() async throws {
        let home = try Home()
        let options = Self.options(["CREATE TABLE extra (a); INSERT INTO extra VALUES (1)"])
        let other = try home.raw()
        try other.execute("BEGIN IMMEDIATE")
        let opening = SeparateThread { _ = try home.reopened(options: options) }
        // By then it has seen the old version, and waits to change it.
        usleep(300_000)
        try other.execute(
            "\(options.migrations[Schema.migrations.count]); PRAGMA user_version = \(options.migrations.count); COMMIT")
        try await opening.value
        #expect(try home.raw().integer("SELECT count(*) FROM extra") == 1)
    }

    // MARK: A store of version 1

    private static let firstStoreKey: Bytes = [
        0x37, 0x57, 0x50, 0xfc, 0x6c, 0x66, 0x02, 0x1f, 0x8e, 0xcc, 0x47, 0x23, 0xe4, 0xa0, 0x86, 0x95, 0x4d, 0x48,
        0x0a, 0x99, 0xd1, 0x6e, 0x94, 0x0a, 0x92, 0xdc, 0xf6, 0x43, 0xe3, 0x45, 0xb2, 0x9a,
    ]

    /// A store as version 1 wrote it, with three devices of one key, one of which knows its provider.
    private static func firstStore() throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        try writeFile(scratch.file("store.key"), Self.firstStoreKey)
        try writeFile(scratch.file("keystore.db"), [])
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            """
            PRAGMA application_id = 1346587475;
            PRAGMA user_version = 1;
            \(Schema.migrations[0])
            INSERT INTO store VALUES (
                1, x'58852402d89fdca8e90b51af78421eea', NULL, NULL, NULL, 1795199602416,
                x'51610e881cb5022b4465f320ef05921bc2f75bfc5e73a6b8b64c70fc477e1678',
                x'21df9ab0e6f4fa9f68ed3bac1e23132258edd6a82abbc2ea0ccb531de9158e64');
            INSERT INTO devices VALUES (
                'bound', x'd7f7bfda56423e0c2a9bce6c0552a21c049a4ac4786c8ad26f8ff04fdf08fe1b', 'com.example.app', 1,
                1795199602655, 1795199602795, NULL,
                x'936bdd9f2669968d6d4d2add65f11dfa59bc0458f658ef7b0786fd3f4fc757fc');
            INSERT INTO devices VALUES (
                'knows', x'd7f7bfda56423e0c2a9bce6c0552a21c049a4ac4786c8ad26f8ff04fdf08fe1b', 'com.example.app', 1,
                1795199602655, 1795199602970, x'ebf567d1cfe5461af92c649da4efe0559f78b41a9f5187b54e7fad6dd77a9fb2',
                x'016573fd16440fdc2968def537eb5b21d74e1034ccf3060e509ee614e4ceb7ff');
            INSERT INTO devices VALUES (
                'plain', x'd7f7bfda56423e0c2a9bce6c0552a21c049a4ac4786c8ad26f8ff04fdf08fe1b', NULL, 1, 1795199603032,
                1795199603033, NULL, x'a8b08ece9ccce7e705d994f04a8ea44e42f062f3143e99a92ddeec0f6754a694');
            """)
        return scratch
    }

    private static func opened(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    @Test func theDevicesOfVersionOneAreAuthenticAndHaveSaidNothingMore() throws {
        let store = try Self.opened(Self.firstStore())
        let devices = try store.devices(["bound", "knows", "plain"]).compactMap { try? $0.get() }
        #expect(devices.map(\.topic?.bundleID) == ["com.example.app", "com.example.app", nil])
        #expect(devices.map(\.updatedAt.milliseconds) == [1_795_199_602_795, 1_795_199_602_970, 1_795_199_603_033])
        #expect(devices.map { $0.pinnedSender != nil } == [false, true, false])
        #expect(devices.map(\.suites) == [[1], [1], [1]])
        #expect(devices.map(\.appVersion) == [nil, nil, nil])
        #expect(devices.map(\.user) == [nil, nil, nil])
        #expect(store.check().filter { $0.severity == .error } == [])
    }

    @Test func aDeviceOfVersionOneRegistersAgain() throws {
        let scratch = try Self.firstStore()
        let store = try Self.opened(scratch)
        let old = try #require(try store.device(id: "bound"))
        var registration = DeviceRegistration(publicKey: old.publicKey, createdAt: old.createdAt)
        #expect(try store.addDevice(registration, id: "bound", at: start) == .unchanged)
        registration.appVersion = AppVersion("2.3.1")
        #expect(try store.addDevice(registration, id: "bound", at: start) == .updated)
        #expect(try Self.opened(scratch).device(id: "bound")?.appVersion == AppVersion("2.3.1"))
        #expect(try Self.opened(scratch).device(id: "knows")?.appVersion == nil)
        #expect(store.check().filter { $0.severity == .error } == [])
    }

    /// The tag does not cover a column without a value; with one it does, in every column.
    @Test(arguments: [
        "suites = x'01'", "suites = x'0102'", "suites = x''", "suites = 1", "app_version = '2.3.1'", "app_version = ''",
        "user = 'mallory'", "user = ''", "suites = x'01', app_version = '2.3.1'", "pinned_sender = NULL",
        "topic = NULL",
    ])
    func whatIsWrittenIntoARowOfVersionOneIsNoticed(_ change: String) throws {
        let scratch = try Self.firstStore()
        let store = try Self.opened(scratch)
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "UPDATE devices SET \(change) WHERE id = 'knows'")
        #expect(code { try store.device(id: "knows") } == .corruptStore)
        #expect(try store.device(id: "bound") != nil)
    }
}
