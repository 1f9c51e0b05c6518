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
        _ = try home.store.generateSenderKey(at: start)
        _ = try home.store.rotateSenderKey(at: start)
        _ = try home.store.rotateDeviceKey(at: start)
        _ = try home.store.trustSender(SenderKey().publicKey, named: "s", topic: nil, at: start)
        _ = try home.store.trustSender(SenderKey().publicKey, named: "s", topic: nil, replace: true, at: start)
        #expect(home.store.check().allSatisfy { $0.severity == .note })
        _ = try home.store.purgeDeviceKeys()
        try home.store.purgeEverything()
        #expect(home.store.check().allSatisfy { $0.severity == .note })
    }

    static let losses = [
        "DELETE FROM devices WHERE id = 'd5'", "DELETE FROM removed_devices", "DELETE FROM devices",
        "UPDATE devices SET updated = (SELECT updated FROM old), tag = (SELECT tag FROM old), user = NULL WHERE id = 'd4'",
        "UPDATE totals SET sealed = (SELECT sealed FROM old_totals), tag = (SELECT tag FROM old_totals)",
        "DELETE FROM totals",
    ]

    @Test(arguments: losses)
    func aLostOrOlderRowIsNoticed(_ sql: String) throws {
        let home = try Home()
        for number in 0..<3 { try home.store.addDevice(device(900 + number), id: "a\(number)", at: start) }
        try home.store.addDevice(device(4), id: "d4", at: start)
        let raw = try home.raw()
        let old = try #require(try raw.rows("SELECT updated, tag FROM devices WHERE id = 'd4'").first)
        let totals = try #require(try raw.rows("SELECT sealed, tag FROM totals").first)
        try full(home)
        #expect(code { try list(home.store) } == nil)
        let values: [SQLiteValue] =
            sql.contains("old_totals") ? totals : sql.contains("old") ? old : []
        let text = sql.replacing(#/\(SELECT \w+ FROM \w+\)/#) { _ in "?" }
        try raw.rows(text, values)
        #expect(code { try list(home.store) } == .corruptStore)
        if !sql.contains("removed_devices") { #expect(try page(home.store)?.code == .corruptStore) }
        #expect(home.store.check().contains { $0.severity == .error })
        // A registration is possible all the same, and the loss stays noticed.
        try home.store.addDevice(device(2000), id: "new", at: start)
        #expect(try home.store.device(id: "new") != nil)
        #expect(code { try list(home.store) } == .corruptStore)
        try home.store.acceptRows()
        #expect(code { try list(home.store) } == nil)
        #expect(try page(home.store) == nil)
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
