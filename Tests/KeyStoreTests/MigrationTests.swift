import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A store of an earlier layout is brought to this one, whole or not at all.
struct MigrationTests {
    private static let earlier = Schema.version - 1

    /// A made-up step: the layout before this one had no index of keys, and kept no reason of a removal.
    private static let step = StoreMigration(layout: earlier) { (store) throws(KeyStoreError) in
        try store.connection.execute("CREATE INDEX devices_by_key ON devices (key_id)")
        for row in try store.rows(RemovedDeviceRow.self, "") {
            let removal = row.record
            try store.put(
                RemovedDeviceRow(RemovedDevice(id: removal.id, removedAt: removal.removedAt, reason: "migrated")))
        }
    }

    private func options(_ steps: [StoreMigration] = [step]) -> StoreOptions {
        var options = StoreOptions.quick
        options.migrations = steps
        return options
    }

    /// A store as the version before would have left it, closed.
    private func earlierStore() throws -> Scratch {
        let home = try Home()
        for number in 0..<20 {
            let registration = DeviceRegistration(publicKey: .numbered(number), createdAt: start)
            try home.store.addDevice(registration, id: "d\(number)", at: start)
        }
        try home.store.removeDevice(id: "d3", at: start)
        try home.raw().execute("DROP INDEX devices_by_key; PRAGMA user_version = \(Self.earlier)")
        return home.scratch
    }

    private func open(_ scratch: Scratch, _ steps: [StoreMigration] = [step]) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: options(steps))
    }

    private func layout(_ path: String) throws -> Int {
        try Schema.version(of: SQLiteConnection(path: path, hasChecksums: true, busyTimeout: 0))
    }

    @Test func anEarlierStoreIsMigratedOnceWithACopyBesideIt() throws {
        let scratch = try earlierStore()
        let copy = scratch.file("keystore.db.layout-\(Self.earlier)")
        do {
            let store = try open(scratch)
            #expect(try store.deviceCount() == 19)
            var reasons: [String?] = []
            try store.forEachRemovedDevice { reasons.append(try $0.get().reason) }
            #expect(reasons == ["migrated"])
            #expect(
                store.check().filter { $0.severity != .note }.map(\.message) == [
                    "\(copy) is the store before an upgrade"
                ])
            #expect(try layout(copy) == Self.earlier && mode(of: copy) == 0o600)
        }
        let before = try readFile(copy)
        #expect(try open(scratch).check().count { $0.severity != .note } == 1)
        #expect(try open(scratch, []).deviceCount() == 19)
        #expect(try readFile(copy) == before)
        // The way back, with the version before: here with the step again.
        _ = try SQLiteKeyStore.restore(
            copy, to: scratch.store, key: nil, passphrase: nil, replace: true, options: options(), at: start)
        #expect(try open(scratch, []).deviceCount() == 19)
    }

    @Test func aStepThatFailsChangesNothing() throws {
        let scratch = try earlierStore()
        let failing = StoreMigration(layout: Self.earlier) { (store) throws(KeyStoreError) in
            try Self.step.change(store)
            throw KeyStoreError(.diskFull, "full")
        }
        #expect(code { try open(scratch, [failing]) } == .diskFull)
        #expect(try layout(scratch.file("keystore.db")) == Self.earlier)
        // A copy of the failed attempt is replaced.
        #expect(try open(scratch).deviceCount() == 19)
    }

    @Test func aDamagedRowStopsAMigrationThatNeedsIt() throws {
        let scratch = try earlierStore()
        try SQLiteConnection(path: scratch.file("keystore.db"), hasChecksums: true, busyTimeout: 0).execute(
            "UPDATE removed_devices SET removed = removed + 1")
        #expect(code { try open(scratch) } == .corruptStore)
        #expect(try layout(scratch.file("keystore.db")) == Self.earlier)
    }

    @Test func layoutsWithoutAStepAreRefused() throws {
        let scratch = try earlierStore()
        #expect(code { try open(scratch, []) } == .olderVersion)
        let raw = try SQLiteConnection(path: scratch.file("keystore.db"), hasChecksums: true, busyTimeout: 0)
        for (version, expected) in [
            (Self.earlier - 1, KeyStoreError.Code.olderVersion), (Schema.version + 1, .newerVersion),
        ] {
            try raw.execute("PRAGMA user_version = \(version)")
            #expect(code { try open(scratch) } == expected)
            #expect(try Schema.version(of: raw) == version)
        }
    }

    @Test func severalStepsAreTakenInOneTransaction() throws {
        let scratch = try earlierStore()
        try SQLiteConnection(path: scratch.file("keystore.db"), hasChecksums: true, busyTimeout: 0).execute(
            "PRAGMA user_version = \(Self.earlier - 1)")
        let first = StoreMigration(layout: Self.earlier - 1) { (store) throws(KeyStoreError) in
            try store.setSetting("first", named: "title")
        }
        let unused = StoreMigration(layout: Self.earlier - 2) { (_) throws(KeyStoreError) in
            throw KeyStoreError(.inputOutput, "this step is for an earlier layout")
        }
        let store = try open(scratch, [unused, first, Self.step])
        #expect(try store.setting(named: "title") == "first")
        #expect(store.check().count { $0.severity != .note } == 1)
    }

    @Test func aStepThatFailsLeavesNothingOfTheOneBefore() throws {
        let scratch = try earlierStore()
        try SQLiteConnection(path: scratch.file("keystore.db"), hasChecksums: true, busyTimeout: 0).execute(
            "PRAGMA user_version = \(Self.earlier - 1)")
        let first = StoreMigration(layout: Self.earlier - 1) { (store) throws(KeyStoreError) in
            try store.setSetting("first", named: "title")
        }
        let failing = StoreMigration(layout: Self.earlier) { (_) throws(KeyStoreError) in
            throw KeyStoreError(.diskFull, "no room")
        }
        #expect(code { try open(scratch, [first, failing]) } == .diskFull)
        let second = StoreMigration(layout: Self.earlier - 1) { (store) throws(KeyStoreError) in
            let title = try store.setting(named: "title")
            guard title == nil else { throw KeyStoreError(.inputOutput, "the first step was kept") }
        }
        _ = try open(scratch, [second, Self.step])
    }

    @Test func aProcessOfTheVersionBeforeChangesNothingAnyMore() throws {
        let home = try Home()
        let registration = DeviceRegistration(publicKey: .numbered(1), createdAt: start)
        try home.store.addDevice(registration, id: "d", at: start)
        try home.raw().execute("PRAGMA user_version = \(Schema.version + 1)")
        let error = error { try home.store.removeDevice(id: "d", at: start) }
        #expect(error?.code == .newerVersion && error?.description.contains("while it was open") == true)
        #expect(try home.store.device(id: "d") != nil)
    }
}
