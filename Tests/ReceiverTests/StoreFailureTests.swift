import Foundation
import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore
@testable import Simulated

/// A key store that does not do its part: the person sees the fallback, or, when the message has opened, the message.
@Suite struct StoreFailureTests {
    /// A key of suite 2 that an envelope of suite 1 names, whether this build could use it or not. [O-3.1]
    @Test func aKeyOfAnotherSuiteIsUnknown() throws {
        let scene = try Scene()
        let key = CipherSuite.xwing.isSupported ? try DeviceKey(.xwing) : nil
        let other = DevicePublicKey(checked: Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31))
        let publicKey = key?.publicKey ?? other
        try scene.phone.store.edit { state in
            let secret = key?.withScalar { Secret(copying: $0) } ?? state.accounts[0].keys[1].secret
            state.accounts[0].keys[1] = DeviceState.Key(
                publicKey: publicKey, generation: 2, state: .pending, createdAt: .start, secret: secret)
        }
        var bytes = try scene.envelope(to: scene.activeKey).bytes
        var id = Bytes()
        id.append(bigEndian: publicKey.id.value)
        bytes.replaceSubrange(1..<5, with: id)
        let reception = scene.receive(Scene.push(Envelope(sealed: bytes, .x25519)))
        #expect(reception.code == "unknown-recipient-key" && reception.shown == Scene.fallback)
    }

    // MARK: Rows that somebody else has changed

    private static let changes: [String] = [
        "UPDATE states SET sealed = zeroblob(length(sealed))", "UPDATE states SET sealed = zeroblob(0)",
        "UPDATE states SET sealed = substr(sealed, 1, length(sealed) - 1)", "UPDATE states SET sealed = 'text'",
        "UPDATE states SET revision = zeroblob(16)", "UPDATE states SET revision = 7",
        "UPDATE states SET sealed = old.sealed FROM old", "UPDATE states SET revision = old.revision FROM old",
        "DROP TABLE states",
    ]

    @Test(arguments: changes)
    func aRowThatWasChangedWithoutTheStoreKeyIsNotUsed(_ sql: String) throws {
        let scene = try Scene()
        let push = Scene.push(try scene.envelope())
        try intrude(scene, "CREATE TABLE old AS SELECT * FROM states")
        try scene.phone.store.edit { try $0.confirm(at: .start) }
        // A connection that has read nothing yet, so that nothing is remembered of the row.
        let store = try scene.phone.store.anotherConnection()
        try intrude(scene, sql)
        let before = try StoreFiles(in: scene.phone.folder)
        let receiver = NotificationReceiver(store: store, database: scene.phone.database, topic: .app)
        expectFallback(receiver.receive(push, requestID: "a", at: Scene.now), .corruptStore)
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == [])
    }

    private func intrude(_ scene: Scene, _ sql: String) throws {
        try SQLiteConnection(path: scene.phone.folder.path(of: "keystore.db"), busyTimeout: 1000)
            .execute(sql)
    }

    private func expectFallback(
        _ reception: NotificationReceiver.Reception, _ code: KeyStoreError.Code,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(reception.code == code.description, sourceLocation: sourceLocation)
        #expect(reception.shown == Scene.fallback, sourceLocation: sourceLocation)
        #expect(reception.warnings.isEmpty, sourceLocation: sourceLocation)
    }

    // MARK: Files

    /// From the beginning, from the second page, from that of the states.
    @Test(arguments: [1, 2, nil] as [Int?], [UInt8(0x00), 0x5a])
    func aDamagedDatabaseIsAFallback(_ page: Int?, _ noise: UInt8) throws {
        let scene = try Scene()
        let states = try scene.phone.store.withConnection { (connection) throws(KeyStoreError) in
            try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'states'")
        }
        let offset = ((page ?? Int(states)) - 1) * 4096
        let push = Scene.push(try scene.envelope())
        // A connection that has read nothing yet, so that nothing is remembered of the file.
        let store = try scene.phone.store.anotherConnection()
        try scene.phone.store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        let file = scene.phone.folder.file("keystore.db")
        let handle = try FileHandle(forWritingTo: file)
        let length = try handle.seekToEnd()
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(repeating: noise, count: Int(length) - offset))
        try handle.close()

        let receiver = NotificationReceiver(store: store, database: scene.phone.database, topic: .app)
        expectFallback(receiver.receive(push, requestID: "a", at: Scene.now), .corruptStore)
    }

    /// Without its log, a database has readers and writers wait for each other. It has none again while somebody reads.
    @Test func aStoreThatAnotherProcessKeepsToItselfIsAFallback() throws {
        let provider = try Provider()
        let folder = try Phone(enrolledWith: provider).folder
        let other = try SQLiteConnection(path: folder.path(of: "keystore.db"), busyTimeout: 1000)
        try other.execute("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM store")
        let phone = try Phone(reopening: folder, at: .start, options: .impatient)
        let push = try provider.push(at: .start)
        try other.execute("COMMIT; BEGIN EXCLUSIVE")
        let reception = phone.receive(push, at: .start)
        #expect(reception.code == KeyStoreError.Code.storeBusy.description)
        #expect(reception.shown == DuplicateTests.fallback)
        try other.execute("ROLLBACK")
        #expect(phone.receive(push, at: .start).shown == DuplicateTests.opened)
    }
}

extension StoreOptions {
    /// Does not wait for other writers.
    static var impatient: StoreOptions {
        var options = StoreOptions()
        options.busyTimeout = 20
        return options
    }
}
