import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The findings for `doctor`.
struct StoreCheckTests {
    private func problems(_ store: SQLiteKeyStore) -> [Finding] { store.check().filter { $0.severity != .note } }

    @Test(arguments: StoreKind.allCases)
    func aSoundStoreHasNoProblems(_ kind: StoreKind) throws {
        let store = try Home(kind).store
        try store.add()
        _ = try store.generateProviderKey(at: start)
        let findings = store.check()
        #expect(findings.allSatisfy { $0.severity == .note })
        #expect(findings.contains { $0.message == "the device's state: 1 key, authentic" })
        #expect(findings.contains { $0.message == "the store can be written" })
    }

    @Test func manyDamagedRowsAreCounted() throws {
        let home = try Home()
        let batch = (0..<2500).map {
            DeviceChange.registered(id: "\($0)", DeviceRegistration(publicKey: .numbered($0), createdAt: start))
        }
        _ = try home.store.importDevices(batch, at: start)
        #expect(problems(home.store).isEmpty)
        try home.raw().execute("UPDATE devices SET generation = 2 WHERE id % 100 = 7")
        let found = problems(home.store)
        #expect(found.count == 11)
        #expect(found.last?.message == "15 more rows of table devices are damaged")
    }

    @Test func aSecretThatDoesNotOpenIsFound() throws {
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        // A row that its tag proves and whose secret is another's: only a store with the key can write it.
        try home.store.write { (store) throws(KeyStoreError) in
            let row = try store.providerKeyRow(nil)
            var values = row.values
            values[7] = .blob(store.keys.seal(ProviderKey().seed.span, at: .elsewhere))
            values.append(.blob(store.keys.tag(of: values[...], in: ProviderKeyRow.table.name)))
            try store.connection.rows(ProviderKeyRow.table.put, values)
        }
        #expect(problems(home.store).count == 1)
        #expect(code { try home.store.providerSecret() } == .corruptStore)
    }

    /// A state that is authentic, with a secret that is another's.
    @Test func aDeviceSecretThatIsNotOfItsKeyIsFound() throws {
        let home = try Home()
        try home.store.add()
        let other = try #require(DeviceKey().withScalar { Secret(copying: $0) } as Secret?)
        try home.store.change { state in
            let key = state.keys[0]
            state.accounts[0].keys[0] = DeviceState.Key(
                publicKey: key.publicKey, generation: 1, state: .active, createdAt: start, secret: other)
        }
        #expect(problems(home.store).map(\.severity) == [.error])
    }

    /// Also by a process that has read the state before.
    @Test func aDamagedStateIsFound() throws {
        let home = try Home()
        try home.store.add()
        try home.raw().execute("UPDATE states SET sealed = zeroblob(length(sealed))")
        #expect(problems(home.store).map(\.severity) == [.error])
    }

    @Test func aLogThatSomebodyDeletedIsFound() throws {
        let home = try Home()
        try home.store.setSetting("a", named: "title")
        #expect(SQLiteKeyStore.check(filesIn: home.scratch.store).isEmpty)
        try #require(unsafe unlink(home.scratch.file("keystore.db-wal")) == 0)
        let found = SQLiteKeyStore.check(filesIn: home.scratch.store)
        #expect(found.map(\.severity) == [.warning] && found[0].message.contains("/keystore.db-wal is missing"))
        let refused = error { try home.store.setSetting("b", named: "title") }
        #expect(refused?.code == .inputOutput && refused?.description.contains("was removed while the store") == true)
        // Another process would begin a new log, which this one must not write beside.
        #expect(code { try home.reopened().setSetting("c", named: "title") } == .inputOutput)
        #expect(code { try home.store.setSetting("b", named: "title") } == .inputOutput)
    }

    @Test func copiesOfTheStoreAndLeftoversAreFound() throws {
        let home = try Home()
        #expect(problems(home.store).isEmpty)
        try home.store.backUp(to: home.scratch.file("monday.backup"))
        let left = ["keystore.db.new", "keystore.db-journal", "store.key.new", ".pushcrypt-1a2b"]
        for name in left + ["notes.txt"] { try writeFile(home.scratch.file(name), Bytes("a".utf8)) }
        let found = problems(home.store)
        #expect(found.allSatisfy { $0.severity == .warning } && found.count == left.count + 1)
        #expect(found.contains { $0.message.contains("/monday.backup is a copy of a store") })
        for name in left {
            #expect(found.contains { $0.message.hasSuffix("/\(name) was left by an interrupted command") }, "\(name)")
        }
    }

    @Test func aKeyFileThatOpensNothingIsFound() throws {
        let scratch = try Scratch()
        let passphrase = try StorePassphrase(Bytes("correct horse".utf8).span)
        let store = try SQLiteKeyStore.create(in: scratch.store, passphrase: passphrase, options: .quick, at: start)
        #expect(problems(store).isEmpty)
        try writeFile(scratch.file("store.key"), Bytes(0..<32))
        #expect(problems(store).map(\.severity) == [.warning])
    }

    /// Litestream reads for as long as it runs, so that nobody empties the log.
    @Test func somebodyWhoKeepsReadingIsNoProblem() throws {
        let home = try Home(options: .impatient)
        let reader = try home.raw()
        try reader.execute("BEGIN; SELECT count(*) FROM devices")
        try home.store.setSetting("a", named: "title")
        #expect(problems(home.store).isEmpty)
        try reader.execute("COMMIT")
    }

    @Test func aStoreThatCannotBeWrittenIsFound() throws {
        let home = try Home(options: .impatient)
        let writer = try home.raw()
        try writer.execute("BEGIN IMMEDIATE")
        #expect(problems(home.store).map(\.severity) == [.error])
        try writer.execute("ROLLBACK")
    }

    @Test func aFileThatIsDamagedInItsStructureIsFound() throws {
        let home = try Home()
        // The index says nothing about the row.
        try home.raw().execute(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'devices_of_users'")
        #expect(try home.reopened().check().contains { $0.severity == .error })
    }
}

extension StoreKeys.Place {
    static var elsewhere: StoreKeys.Place { StoreKeys.Place(table: "elsewhere", row: 1, generation: 1, state: 0) }
}

/// Errors as programs and people see them.
struct KeyStoreErrorTests {
    @Test func everyCodeHasANameOfItsOwn() {
        let names = KeyStoreError.Code.allCases.map(\.description)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 >= UInt8(ascii: "a") } })
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(KeyStoreError(.storeBusy, "a") == KeyStoreError(.storeBusy, "b"))
        #expect(KeyStoreError(.storeBusy, "a") != KeyStoreError(.diskFull, "a"))
    }
}
