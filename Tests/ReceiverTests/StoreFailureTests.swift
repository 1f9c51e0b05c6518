import Foundation
import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore

/// A key store that does not do its part: the person sees the fallback, or, when the message has opened, the message.
@Suite struct StoreFailureTests {
    @Test(arguments: KeyStoreError.Code.allCases)
    func whateverAStoreSaysIsAFallbackForASealedPush(_ code: KeyStoreError.Code) throws {
        let push = IncomingPush(try ReceivedPush(Scene.push(value: #""AQ""#)))
        let reason = Delivery.Reason(KeyStoreError(code, "because"))
        #expect(reason.code == code.description)
        #expect(reason.description == "because")
        #expect(Delivery(fallback: reason, for: push).shown == Scene.fallback)
    }

    /// It can only be named by an envelope of another suite. [O-3.1]
    @Test func aKeyThatThisBuildCannotUseIsUnknown() throws {
        let phone = try Installation(.sqlite)
        let provider = try Provider()
        try phone.launch(with: provider)
        let push = try provider.push(to: phone.device(), at: .start)
        phone.store.fail(with: KeyStoreError(.unsupportedSuite, ""))
        #expect(try phone.receive(push) == "unknown-recipient-key")
    }

    // MARK: Rows that somebody else has changed

    private static let changes: [String] = [
        "UPDATE device_keys SET state = 2 WHERE state = 1",
        "UPDATE device_keys SET sealed = zeroblob(72)",
        "UPDATE device_keys SET public_key = (SELECT public_key FROM device_keys WHERE state = 2) WHERE state = 1",
        "UPDATE device_keys SET topic = 'com.example.app'",
        "UPDATE device_keys SET tag = zeroblob(32)",
        "UPDATE device_keys SET tag = (SELECT tag FROM device_keys WHERE state = 2)",
        "UPDATE pins SET public_key = zeroblob(32)",
        "UPDATE pins SET name = 'somebody'",
        "UPDATE pins SET origin = 3 - origin",
        "INSERT INTO pins SELECT 9, 'default', topic, zeroblob(32), origin, created, tag FROM pins",
        "DROP TABLE device_keys",
        "DROP TABLE pins",
    ]

    @Test(arguments: changes)
    func aRowThatWasChangedWithoutTheStoreKeyIsNotUsed(_ sql: String) throws {
        let scene = try Scene()
        let push = Scene.push(try scene.envelope())
        try intrude(scene, sql)
        let before = try StoreFiles(in: scene.phone.folder)
        expectFallback(scene.receive(push), .corruptStore)
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == [])
    }

    @Test func aKeyThatHasEndedIsNotBroughtBackByChangingItsEnd() throws {
        let scene = try Scene()
        _ = try scene.phone.store.confirmDeviceKey(grace: .seconds(0), at: .start)
        let push = Scene.push(try scene.envelope(to: scene.activeKey))
        #expect(scene.receive(push).code == OpenError.Code.unknownRecipientKey.description)
        try intrude(scene, "UPDATE device_keys SET state = 2, retires = NULL WHERE state = 3")
        expectFallback(scene.receive(push), .corruptStore)
    }

    /// What was learned is damaged: ignoring it could restore trust that has ended.
    @Test(arguments: [
        "UPDATE learned SET floor = 0", "UPDATE learned SET certificate = NULL", "UPDATE learned SET topic = 'other'",
        "DROP TABLE learned",
    ])
    func learnedTrustThatWasChangedIsNotUsed(_ sql: String) throws {
        let scene = try Scene()
        let later = try scene.provider.certified(epoch: 9, floor: 9)
        try scene.phone.store.acceptCertificate(
            later.certificate, of: scene.provider.publicKey, topic: .app, at: .start)
        try intrude(scene, sql)
        expectFallback(
            scene.receive(Scene.push(try scene.envelope(by: EnvelopeSigner(later, for: .app)))), .corruptStore)
    }

    @Test func aProviderThatIsNoLongerPinnedIsNotBelieved() throws {
        let scene = try Scene()
        #expect(try scene.phone.store.unpinProvider(scene.provider.publicKey, for: Phone.account))
        let reception = scene.receive(Scene.push(try scene.envelope()))
        #expect(reception.code == OpenError.Code.authenticationFailed.description)
        #expect(reception.shown == Scene.fallback)
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

    @Test(arguments: [0, 4096, 20_480], [UInt8(0x00), 0x5a])
    func aDamagedDatabaseIsAFallback(_ offset: Int, _ noise: UInt8) throws {
        let scene = try Scene()
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

        let receiver = NotificationReceiver(
            keys: store, effects: store, database: scene.phone.database, topic: .app)
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

    // MARK: Failed writes

    /// The message has opened: that the store cannot take its effects now is the developer's to know.
    @Test func aStoreThatCannotBeWrittenStopsNothing() throws {
        let scene = try Scene(options: .impatient)
        let writer = try SQLiteConnection(
            path: scene.phone.folder.path(of: "keystore.db"), busyTimeout: 1000)
        try writer.execute("BEGIN IMMEDIATE")
        let push = Scene.push(try scene.envelope())
        let reception = scene.receive(push, request: "a")
        #expect(reception.shown == Scene.opened)
        #expect(reception.warnings.count == 1)
        #expect(reception.warnings.first?.hasPrefix("the key store was not updated: ") == true)
        try writer.execute("ROLLBACK")
        #expect(try !scene.isSettled)

        // The system asks again, or the next message comes.
        #expect(scene.receive(push, request: "a").warnings.isEmpty)
        #expect(try scene.isSettled)
    }

    @Test func aMessageWithoutEffectsNeedsNoWriter() throws {
        let scene = try Scene(options: .impatient)
        let writer = try SQLiteConnection(
            path: scene.phone.folder.path(of: "keystore.db"), busyTimeout: 1000)
        try writer.execute("BEGIN IMMEDIATE")
        let push = Scene.push(try scene.envelope(by: EnvelopeSigner(scene.provider), to: scene.activeKey))
        let reception = scene.receive(push)
        #expect(reception.shown == Scene.opened)
        #expect(reception.warnings.isEmpty)
        try writer.execute("ROLLBACK")
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
