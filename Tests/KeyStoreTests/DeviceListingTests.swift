import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Lists of devices from a database that somebody has written without the store key: they end, each row comes once, and no
/// id is treated as anything else.
struct DeviceListingTests {
    /// A store with three devices of one user.
    private static func home() throws -> Home {
        let home = try Home()
        for id in ["device-a", "device-b", "device-c"] {
            let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
            _ = try home.store.addDevice(registration, id: id, owner: .user("alice"), at: start)
        }
        return home
    }

    /// Copies the row of a device under other ids, given as SQL.
    private static func forge(_ ids: [String], in home: Home) throws {
        let columns =
            "public_key, topic, generation, created, updated, provider, tag, suites, app_version, user, sequence, key_id"
        for id in ids {
            try home.raw().execute(
                "INSERT INTO devices (id, \(columns)) SELECT \(id), \(columns) FROM devices WHERE id = 'device-a'")
        }
    }

    /// All pages, unless there are more than there can be.
    private static func list(_ store: SQLiteKeyStore, by count: Int) throws -> (ids: [String], damaged: [String]) {
        var list: (ids: [String], damaged: [String]) = ([], [])
        var page: DevicePage?
        for _ in 0..<100 where page?.isLast != true {
            let next = try store.devicePage(after: page, count: count)
            for entry in next.entries {
                switch entry {
                case .success(let id): list.ids.append(id)
                case .failure(let error): list.damaged.append(String(error.description.prefix { $0 != "t" }))
                }
            }
            page = next
        }
        try #require(page?.isLast == true)
        return list
    }

    @Test(arguments: [1, 2, 3, 9, 64])
    func anIDThatNoDeviceHasIsReportedAndNotGiven(_ count: Int) throws {
        let home = try Self.home()
        try Self.forge(
            [
                "CAST(x'ff' AS TEXT)", "CAST(x'ffff' AS TEXT)", "CAST(x'61ff62' AS TEXT)", "x'646576'", "'  '", "''",
                "'pcr1qqq'", "'one' || char(10) || 'two'", "printf('%.256c', 'x')",
                // These two may be ids; the rows are found out when they are read.
                "'device-b2'", "CAST(x'efbfbd' AS TEXT)",
            ], in: home)
        let (ids, damaged) = try Self.list(home.store, by: count)
        #expect(ids == ["device-a", "device-b", "device-b2", "device-c", "\u{FFFD}"])
        #expect(
            damaged == [
                "row  of ", "row '  ' of ", "row 61ff62 of ", "row 6f6e650a74776f of ", "row 'pcr1qqq' of ",
                "row \(String(repeating: "78", count: 32)) of ", "row ff of ", "row ffff of ", "row 646576 of ",
            ])
        let codes = try home.store.devices(ids).map { device in code { try device.get() } }
        #expect(codes == [nil, nil, .corruptStore, nil, .corruptStore])
    }

    @Test func aListGoesOnAfterForgedRowsAndEnds() throws {
        let home = try Self.home()
        try Self.forge(["CAST(x'ff' AS TEXT)", "'pcr1qqq'", "'a' || char(10)"], in: home)
        try home.raw().execute(
            "INSERT INTO devices (id, removed, sequence, tag) VALUES (CAST(x'fe' AS TEXT), 1, 0, zeroblob(32)), ('device-z', 1, 0, x'')"
        )
        var found: [String] = []
        try home.store.forEachDevice { found.append((try? $0.get().id) ?? "damaged") }
        #expect(found == ["damaged", "device-a", "device-b", "device-c", "damaged", "damaged"])
        var removed: [KeyStoreError.Code?] = []
        try home.store.forEachRemovedDevice { device in removed.append(code { try device.get() }) }
        #expect(removed == [.corruptStore, .corruptStore])
    }

    /// Longer than one page.
    @Test func aListGoesOnWhileOthersChangeTheStore() throws {
        let home = try Home()
        let other = try home.reopened()
        let changes = (0..<1500).map {
            DeviceChange.registered(id: "d\($0)", DeviceRegistration(publicKey: .numbered($0), createdAt: start))
        }
        _ = try home.store.importDevices(changes, at: start)
        var found: Set<String> = []
        try home.store.forEachDevice { device in
            if found.isEmpty { _ = try other.removeDevice(id: "d99", at: start + 60) }
            found.insert(try device.get().id)
        }
        #expect(found.count == 1499 && !found.contains("d99"))
    }

    /// The first id of a page of the file becomes the last: after the second, SQLite finds the first again, and so on.
    @Test func rowsThatLieOutOfOrderDoNotMakeAListEndless() throws {
        let home = try Self.home()
        let store = try home.replaced("device-a", by: "device-x")
        let first = try store.devicePage(after: nil, count: 1)
        #expect(first.entries == [.success("device-x")])
        #expect(code { try Self.list(store, by: 2) } == .corruptStore)
        #expect(code { try store.forEachDevice { _ in } } == .corruptStore)
        let problems = store.check().filter { $0.severity == .error }.map(\.message)
        #expect(problems.contains("the database is damaged"))
    }

    /// An index that names one device twice, and another not at all.
    @Test func aUserHasNoDeviceTwice() throws {
        let home = try Self.home()
        let store = try home.replaced("alicedevice-b", by: "alicedevice-a")
        #expect(try home.raw().rows("SELECT id FROM devices WHERE user = 'alice' ORDER BY id").count == 3)
        #expect(code { try store.devices(ofUser: "alice") } == .corruptStore)
        #expect(try store.devices(["device-b"]).map { device in code { try device.get() } } == [nil])
    }
}

extension Home {
    /// Opens the store after its file was changed in the one place where it has a text.
    fileprivate func replaced(_ old: String, by new: String) throws -> SQLiteKeyStore {
        try store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        var bytes = try readFile(scratch.file("keystore.db"))
        let found = try #require(bytes.firstRange(of: Bytes(old.utf8)))
        bytes.replaceSubrange(found, with: Bytes(new.utf8))
        try writeFile(scratch.file("keystore.db"), bytes)
        return try reopened()
    }
}
