import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Rows that are missing or were exchanged are noticed by every whole list, though each row that is there is authentic.
struct TotalsTests {
    private func device(_ number: Int) -> DeviceRegistration {
        DeviceRegistration(publicKey: .numbered(number), createdAt: start)
    }

    /// A store with devices, of which some were changed, removed and imported.
    private func full(_ home: Home) throws {
        for number in 0..<40 { try home.store.addDevice(device(number), id: "d\(number)", at: start) }
        for number in 0..<10 {
            try home.store.addDevice(device(number), id: "d\(number)", owner: .user("u"), at: start)
        }
        for number in 30..<40 { try home.store.removeDevice(id: "d\(number)", at: start) }
        let changes = (20..<60).map {
            DeviceChange.registered(id: "d\($0)", device($0), owner: .unchanged, updatedAt: start)
        }
        _ = try home.store.importDevices(changes, at: start.adding(.days(1)))
        try home.store.addDevice(device(1000), id: "d1", replace: true, at: start)
        _ = try home.store.forgetRemovedDevices(upTo: start)
        try home.store.removeDevice(id: "d3", at: start.adding(.days(1)))
    }

    private func list(_ store: SQLiteKeyStore) throws -> [String] {
        var ids: [String] = []
        try store.forEachDevice { ids.append(try $0.get().id) }
        try store.forEachRemovedDevice { ids.append(try $0.get().id) }
        return ids
    }

    private func page(_ store: SQLiteKeyStore) throws -> KeyStoreError? {
        var page: DevicePage?
        repeat { page = try store.devicePage(after: page, count: 7) } while page?.isLast == false
        return page?.shortage
    }

    @Test(arguments: StoreKind.allCases)
    func totalsFollowEveryChange(_ kind: StoreKind) throws {
        let home = try Home(kind)
        try full(home)
        #expect(try list(home.store).count == home.store.deviceCount() + 1)
        #expect(try page(home.store) == nil)
        _ = try home.store.generateDeviceKey(at: start)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        try home.store.rotateSigningKey(at: start)
        _ = try home.store.requestCertificate(at: start)
        _ = try home.store.rotateDeviceKey(at: start)
        let certificate = try home.store.providerKey().certificate
        let provider = try home.store.providerKey().publicKey
        try home.store.pinProvider(provider, certificate: certificate, topic: .app, at: start)
        _ = try home.store.pinProvider(ProviderKey().publicKey, topic: .app, at: start)
        #expect(home.store.check().contains { $0.message == "table learned: 1 rows, all authentic" })
        #expect(home.store.check().allSatisfy { $0.severity == .note })
        _ = try home.store.purgeDeviceKeys()
        try home.store.purgeEverything()
        _ = try home.store.removeProviderKey(named: "default")
        #expect(home.store.check().allSatisfy { $0.severity == .note })
    }

    /// A change of the database by someone without the store key.
    struct Loss: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        /// The table that older rows are taken from.
        var older: String?
        /// What a list says, and `doctor`.
        let found: String
        var isOfDevices = true
    }

    static let losses = [
        Loss(
            testDescription: "a device", sql: "DELETE FROM devices WHERE id = 'd5'",
            found: "table devices has 51 rows, not 52"),
        Loss(testDescription: "all devices", sql: "DELETE FROM devices", found: "table devices has 0 rows, not 52"),
        Loss(
            testDescription: "removals", sql: "DELETE FROM removed_devices",
            found: "table removed_devices has 0 rows, not 1", isOfDevices: false),
        Loss(
            testDescription: "an older device", sql: "SELECT * FROM devices WHERE id = 'd4'", older: "devices",
            found: "table devices has other rows than were written"),
        Loss(
            testDescription: "older totals", sql: "SELECT * FROM totals", older: "totals",
            found: "table devices has 52 rows, not 4"),
        Loss(testDescription: "the totals", sql: "DELETE FROM totals", found: "row 1 of table totals is damaged"),
    ]

    /// Writes a row as it was.
    private func put(_ row: [SQLiteValue], in table: String, _ raw: SQLiteConnection) throws {
        let marks = row.map { _ in "?" }.joined(separator: ", ")
        try raw.rows("REPLACE INTO \(table) VALUES (\(marks))", row)
    }

    @Test(arguments: losses)
    func aLostOrOlderRowIsNoticed(_ loss: Loss) throws {
        let home = try Home()
        for number in 0..<3 { try home.store.addDevice(device(900 + number), id: "a\(number)", at: start) }
        try home.store.addDevice(device(4), id: "d4", at: start)
        let raw = try home.raw()
        let old = try loss.older.map { _ in try #require(try raw.rows(loss.sql).first) }
        try full(home)
        #expect(code { try list(home.store) } == nil)
        if let old, let table = loss.older { try put(old, in: table, raw) } else { try raw.execute(loss.sql) }
        let error = error { try list(home.store) }
        #expect(error?.code == .corruptStore)
        #expect(error?.description.contains(loss.found) == true, "\(error?.description ?? "none")")
        let page = try page(home.store)
        #expect(loss.isOfDevices ? page?.description.contains(loss.found) == true : page == nil)
        #expect(home.store.check().contains { $0.severity == .error && $0.message.contains(loss.found) })
        // A registration is possible all the same, and the loss stays noticed.
        try home.store.addDevice(device(2000), id: "new", at: start)
        #expect(try home.store.device(id: "new") != nil)
        #expect(code { try list(home.store) } == .corruptStore)
        try home.store.acceptRows()
        #expect(code { try list(home.store) } == nil)
        #expect(try self.page(home.store) == nil)
        #expect(home.store.check().allSatisfy { $0.severity == .note })
    }

    // MARK: Limits

    private func row(_ id: String, _ raw: SQLiteConnection) throws -> [SQLiteValue] {
        try #require(try raw.rows("SELECT * FROM devices WHERE id = '\(id)'").first)
    }

    /// A limit: a change subtracts the row that it finds.
    @Test func aRowThatIsHiddenFromItsRemovalComesBackUnnoticed() throws {
        let home = try Home()
        let raw = try home.raw()
        for number in 0..<3 { try home.store.addDevice(device(number), id: "d\(number)", at: start) }
        let hidden = try row("d1", raw)
        try raw.execute("DELETE FROM devices WHERE id = 'd1'")
        #expect(code { try list(home.store) } == .corruptStore)
        try home.store.removeDevice(id: "d1", at: start.adding(.days(1)))
        #expect(code { try list(home.store) } == .corruptStore)
        try put(hidden, in: "devices", raw)
        #expect(try list(home.store) == ["d0", "d1", "d2"])
    }

    @Test func aRowThatIsHiddenFromItsReplacementIsNoticedUntilTheNewerOneIsRemoved() throws {
        let home = try Home()
        let raw = try home.raw()
        try home.store.addDevice(device(1), id: "d1", at: start)
        let hidden = try row("d1", raw)
        try raw.execute("DELETE FROM devices")
        try home.store.addDevice(device(2), id: "d1", at: start)
        let newer = try row("d1", raw)
        for row in [newer, hidden] {
            try put(row, in: "devices", raw)
            #expect(code { try list(home.store) } == .corruptStore)
        }
        try put(newer, in: "devices", raw)
        try home.store.removeDevice(id: "d1", at: start.adding(.days(1)))
        #expect(code { try list(home.store) } == .corruptStore)
        try put(hidden, in: "devices", raw)
        #expect(code { try list(home.store) } == nil)
    }

    @Test func anOlderRowThatIsReplacedStaysNoticed() throws {
        let home = try Home()
        let raw = try home.raw()
        try home.store.addDevice(device(1), id: "d1", at: start)
        let older = try row("d1", raw)
        try home.store.addDevice(device(2), id: "d1", replace: true, at: start)
        let newer = try row("d1", raw)
        try put(older, in: "devices", raw)
        try home.store.addDevice(device(3), id: "d1", replace: true, at: start)
        for row in [try row("d1", raw), older, newer] {
            try put(row, in: "devices", raw)
            #expect(code { try list(home.store) } == .corruptStore)
        }
    }

    @Test func aListWhileOthersChangeTheStoreIsChecked() throws {
        let home = try Home()
        let other = try home.reopened()
        for number in 0..<1500 { try home.store.addDevice(device(number), id: "d\(number)", at: start) }
        var count = 0
        try home.store.forEachDevice { _ in
            if count == 10 { try other.addDevice(device(5000), id: "a", at: start) }
            count += 1
        }
        #expect(count == 1500)
        let raw = try home.raw()
        count = 0
        #expect(
            code {
                try home.store.forEachDevice { _ in
                    if count == 10 { try raw.execute("DELETE FROM devices WHERE id = 'd99'") }
                    count += 1
                }
            } == .corruptStore)
    }

    @Test func aDamagedRowIsReportedAloneAndMayBeReplaced() throws {
        let home = try Home()
        try full(home)
        try home.raw().execute("UPDATE devices SET created = created + 1 WHERE id = 'd7'")
        var failures = 0
        try home.store.forEachDevice { if case .failure = $0 { failures += 1 } }
        #expect(failures == 1)
        try home.store.addDevice(device(7), id: "d7", replace: true, at: start)
        #expect(code { try list(home.store) } == nil)
    }

    @Test func sumsAreModulo2To256() {
        let largest = Bytes(repeating: 0xFF, count: 32)
        let one = Bytes(repeating: 0, count: 31) + [1]
        var total = TableTotal()
        total.add(largest)
        total.add(one)
        var two = TableTotal()
        two.add(Bytes(repeating: 0, count: 32))
        two.add(Bytes(repeating: 0, count: 32))
        #expect(total == two && total.count == 2)
        total.subtract(one)
        total.subtract(largest)
        #expect(total == TableTotal())
        total.subtract(one)
        var bytes = Bytes()
        total.append(to: &bytes)
        #expect(bytes == Bytes(repeating: 0xFF, count: 40))
        #expect(TableTotal(bytes: bytes.span) == total)
    }
}
