import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The questions of a bulk sealer to a store: which devices, whose, and whether anything has changed.
struct DeviceLookupTests {
    private func registration(_ key: DevicePublicKey = DeviceKey().publicKey) -> DeviceRegistration {
        DeviceRegistration(publicKey: key, createdAt: start)
    }

    private func codes(_ devices: [Result<DeviceRecord, KeyStoreError>]) -> [KeyStoreError.Code?] {
        devices.map { device in code { try device.get() } }
    }

    @Test func eachIDHasItsOwnAnswer() throws {
        let home = try Home()
        let store = home.store
        let first = registration()
        _ = try store.addDevice(first, id: "a", at: start)
        for id in ["gone", "broken", "z"] { _ = try store.addDevice(registration(), id: id, at: start) }
        _ = try store.removeDevice(id: "gone", reason: "unregistered", at: start + 60)
        _ = try store.removeDevice(id: "a", at: start + 60)
        _ = try store.addDevice(first, id: "a", at: start + 61)
        try home.raw().execute("UPDATE devices SET generation = 2 WHERE id = 'broken'")
        let devices = try store.devices(["a", "gone", "broken", "never", "z", "a", ""])
        #expect(
            codes(devices) == [nil, .removedDevice, .corruptStore, .unknownDevice, nil, nil, .unknownDevice])
        #expect(try devices[0].get() == devices[5].get())
        let removed = error { try devices[1].get() }
        #expect(
            removed?.description
                == "device 'gone' was removed at 2027-01-15T08:01:00Z (unregistered); it can be sealed to once it registers again"
        )
        #expect(error { try devices[2].get() }?.description.hasPrefix("row 'broken' of table devices") == true)
        #expect(error { try devices[3].get() }?.description.contains("no device 'never'") == true)
    }

    @Test func aDamagedRemovalIsNoUnknownDevice() throws {
        let home = try Home()
        _ = try home.store.addDevice(registration(), id: "a", at: start)
        _ = try home.store.removeDevice(id: "a", at: start)
        try home.raw().execute("UPDATE devices SET removed = removed + 1 WHERE removed IS NOT NULL")
        #expect(codes(try home.store.devices(["a"])) == [.corruptStore])
    }

    @Test func anIDIsNotShownWithWhatATerminalWouldDo() throws {
        let store = try Home(.memory).store
        let error = error { try store.devices(["\u{1b}[2J"])[0].get() }
        #expect(error?.description.contains("1b5b324a") == true)
    }

    @Test func aPageThatIsDamagedCostsItsOwnDevices() throws {
        let home = try Home()
        // Long ids: every row has a page to itself, or nearly.
        let ids = (0..<200).map { "\($0)" + String(repeating: "x", count: 250) }
        _ = try home.store.importDevices(ids.map { .registered(id: $0, registration()) }, at: start)
        try home.store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        var bytes = try readFile(home.scratch.file("keystore.db"))
        // The row, and those of the indices.
        let rows = bytes.ranges(of: Bytes(ids[100].utf8))
        try #require(rows.count > 1)
        for page in rows.map({ $0.lowerBound / 4096 * 4096 }) {
            for index in page..<page + 4096 { bytes[index] = 0xff }
        }
        try writeFile(home.scratch.file("keystore.db"), bytes)
        let found = codes(try home.reopened().devices(ids))
        #expect(found[100] == .corruptStore)
        #expect(Set(found) == [nil, .corruptStore])
        #expect(found.count { $0 == nil } > 100)
    }

    /// A database in which two ids count as the same: SQLite gives the other device's row, and its tag is right. A store that
    /// is opened later is refused for its tables.
    @Test func aTableThatComparesInAnotherWayGivesNobodyElsesKey() throws {
        let home = try Home()
        _ = try home.store.addDevice(registration(), id: "victim", owner: .user("victim"), at: start)
        _ = try home.store.addDevice(registration(), id: "MALLORY", owner: .user("MALLORY"), at: start)
        try home.raw().execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(replace(sql, 'id TEXT PRIMARY KEY', 'id TEXT COLLATE NOCASE PRIMARY KEY'),
                'user TEXT', 'user TEXT COLLATE NOCASE')
            WHERE name = 'devices';
            PRAGMA writable_schema = OFF; PRAGMA schema_version = 1000;
            """)
        try home.raw().execute("REINDEX")
        #expect(code { try home.reopened() } == .corruptStore)
        let store = home.store
        #expect(codes(try store.devices(["mallory", "victim"])) == [.corruptStore, nil])
        #expect(code { try store.device(id: "mallory") } == .corruptStore)
        #expect(codes(try store.devices(ofUser: "mallory")) == [.corruptStore])
    }

    // MARK: Users

    @Test(arguments: StoreKind.allCases)
    func theDevicesOfAUserComeInTheOrderOfTheirIDs(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        for id in ["b", "é", "a", "c", "B"] {
            _ = try store.addDevice(
                registration(), id: id, owner: id == "c" ? .user("bob") : .user("alice"), at: start)
        }
        _ = try store.addDevice(registration(), id: "nobody's", at: start)
        #expect(try store.devices(ofUser: "alice").map { try $0.get().id } == ["B", "a", "b", "é"])
        #expect(try store.devices(ofUser: "bob").map { try $0.get().id } == ["c"])
        #expect(try store.devices(ofUser: "Alice").isEmpty)
        #expect(try store.devices(ofUser: "").isEmpty)
        _ = try store.removeDevice(id: "a", at: start + 1)
        _ = try store.addDevice(registration(), id: "b", owner: .user("bob"), replace: true, at: start + 1)
        #expect(try store.devices(ofUser: "alice").map { try $0.get().id } == ["B", "é"])
        #expect(try store.devices(ofUser: "bob").map { try $0.get().id } == ["b", "c"])
    }

    @Test func aDeviceThatSomebodyGivesToAnotherUserIsNotUsed() throws {
        let home = try Home()
        for id in ["a", "b"] { _ = try home.store.addDevice(registration(), id: id, owner: .user("alice"), at: start) }
        _ = try home.store.addDevice(registration(), id: "m", owner: .user("mallory"), at: start)
        try home.raw().execute("UPDATE devices SET user = 'alice' WHERE id = 'm'")
        #expect(codes(try home.store.devices(ofUser: "alice")) == [nil, nil, .corruptStore])
        // A hidden device is not missed.
        try home.raw().execute("UPDATE devices SET user = NULL WHERE id = 'b'")
        #expect(codes(try home.store.devices(ofUser: "alice")) == [nil, .corruptStore])
        #expect(codes(try home.store.devices(["b"])) == [.corruptStore])
    }

    // MARK: A store that changes

    @Test(arguments: StoreKind.allCases)
    func aVersionChangesWithEveryChangeAndWithNothingElse(_ kind: StoreKind) throws {
        let home = try Home(kind)
        let store = home.store
        _ = try store.generateProviderKey(topic: .app, at: start)
        let first = try store.version()
        _ = try store.providerKey()
        _ = try store.devices(["a"])
        #expect(try store.version() == first)
        _ = try store.addDevice(registration(), id: "a", at: start)
        let second = try store.version()
        #expect(second != first)
        let other = try store.anotherConnection()
        #expect(try store.version() == second)
        _ = try other.rotateSigningKey(at: start)
        let third = try store.version()
        #expect(third != second && !third.isReplaced)
        #expect(code { try other.removeDevice(id: "nobody", at: start) } == nil)
        #expect(try store.version() == third)
    }

    @Test func aBackupInThePlaceOfTheStoreIsNoticedAndRead() throws {
        let home = try Home()
        let store = home.store
        _ = try store.addDevice(registration(), id: "a", at: start)
        try store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        let backup = try readFile(home.scratch.file("keystore.db"))
        _ = try store.addDevice(registration(), id: "b", at: start)
        let before = try store.version()

        try Self.replaceDatabase(of: home.scratch, with: backup)
        let after = try store.version()
        #expect(after != before && after.isReplaced)
        let restored = try store.anotherConnection()
        #expect(try !restored.version().isReplaced)
        #expect(codes(try restored.devices(["a", "b"])) == [nil, .unknownDevice])
        // The old connection reads what it has open, and says so.
        #expect(codes(try store.devices(["a", "b"])) == [nil, nil])
        #expect(try store.version().isReplaced)
    }

    @Test func anotherStoreInThePlaceOfTheStoreIsRefused() throws {
        let (home, other) = (try Home(), try Home())
        _ = try other.store.addDevice(registration(), id: "a", at: start)
        try other.store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        try Self.replaceDatabase(of: home.scratch, with: try readFile(other.scratch.file("keystore.db")))
        #expect(try home.store.version().isReplaced)
        #expect(code { try home.store.anotherConnection() } == .wrongPassphrase)
        try #require(unsafe unlink(home.scratch.file("keystore.db")) == 0)
        #expect(code { try home.store.version() } == .storeMissing)
        #expect(code { try home.store.anotherConnection() } == .storeMissing)
    }

    private static func replaceDatabase(of scratch: Scratch, with bytes: Bytes) throws {
        try writeFile(scratch.file("restored"), bytes)
        for name in ["keystore.db-wal", "keystore.db-shm"] { unsafe unlink(scratch.file(name)) }
        try #require(unsafe rename(scratch.file("restored"), scratch.file("keystore.db")) == 0)
    }
}
