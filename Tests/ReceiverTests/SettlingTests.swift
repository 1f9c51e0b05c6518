import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// A message's changes to the device's state; only a message that has opened makes any. [O-9.1] to [O-9.3]
@Suite struct SettlingTests {
    private let scene: Scene
    private let keychain = ModelKeychain()
    private let store: FailingStore

    init() throws {
        scene = try Scene()
        store = FailingStore(keychain.store)
        let state = try scene.phone.store.state()
        try store.edit { $0 = state }
    }

    private func receive(
        _ push: Bytes, topic: Topic = .app, where accepts: (OpenedNotification) -> Bool = { _ in true }
    ) throws -> NotificationReceiver.Reception {
        let receiver = NotificationReceiver(store: store, database: scene.phone.database, topic: topic)
        return receiver.receive(
            IncomingPush(try ReceivedPush(push)), as: .alert, requestID: nil, at: Scene.now, isAwaited: { true },
            where: accepts)
    }

    private var isSettled: Bool {
        get throws {
            let state = try store.state()
            return state.accounts[0].keys.map(\.state) == [.retiring, .active]
                && state.trust(for: .app, account: Phone.account).pins[0].learned.certificate == scene.certificate
        }
    }

    @Test func aMessageSettlesWhatItTeachesOnce() throws {
        let writes = store.writes
        for _ in 0..<3 {
            let reception = try receive(Scene.push(scene.envelope()))
            #expect(reception.code == "opened" && reception.warnings == [])
            #expect(try isSettled && store.writes == writes + 1)
        }
        let keys = try store.keys()
        #expect(keys[0].retiresAt == Scene.now.plus(days: 31) && keys[1].publicKey == scene.pendingKey)
    }

    /// It has opened, and is not what the app takes, or is another app's.
    @Test func whatIsNotAcceptedChangesNothing() throws {
        let (push, state, writes) = (Scene.push(try scene.envelope()), try store.state(), store.writes)
        #expect(try receive(push, where: { _ in false }).code == "wrong-push-class")
        #expect(try receive(push, topic: .other).code == "authentication-failed")
        #expect(try store.state() == state && store.writes == writes)
    }

    /// The message is shown; the next one settles what it could not.
    @Test(arguments: [KeyStoreError.Code.diskFull, .storeBusy, .inputOutput])
    func aStoreThatCannotBeWrittenIsAWarning(_ code: KeyStoreError.Code) throws {
        store.fail(with: KeyStoreError(code, "because"), writesOnly: true)
        let reception = try receive(Scene.push(scene.envelope()))
        #expect(reception.shown == Scene.opened && reception.warnings == ["the key store was not updated: because"])
        store.fail(with: nil)
        #expect(try !isSettled)
        #expect(try receive(Scene.push(scene.envelope())).warnings == [])
        #expect(try isSettled)
    }

    /// The app has logged the account out while the extension worked: its keys do not come back, and what was learned stays.
    @Test func aMessageBringsNoAccountBack() throws {
        let other = keychain.store
        keychain.before(.update) { _ = try? other.edit { $0.removeAccount(Phone.account) } }
        #expect(try receive(Scene.push(scene.envelope())).code == "opened")
        let state = try store.state()
        #expect(state.accounts == [])
        #expect(
            state.trust(in: scene.provider.publicKey, for: .app).pins[0].learned.certificate == scene.certificate)
    }

    @Test func withoutAStateThereIsTheFallback() throws {
        try store.discard()
        let reception = try receive(Scene.push(scene.envelope()))
        #expect(reception.code == "store-missing" && reception.shown == Scene.fallback)
        #expect(try store.load() == nil)
    }

    /// Deleted only when the end is a day before both clocks. [O-9.5]
    @Test func retiredKeysEndADayAfterBothClocks() throws {
        #expect(try receive(Scene.push(scene.envelope())).code == "opened")
        let end = try #require(try store.keys()[0].retiresAt)
        func delete(sentAt: Timestamp, at now: Timestamp) throws -> Int {
            let push = Scene.push(try scene.envelope(at: sentAt))
            let receiver = NotificationReceiver(store: store, database: scene.phone.database, topic: .app)
            let delivery = receiver.receive(push, requestID: nil, at: sentAt).delivery
            receiver.deleteRetiredKeys(after: delivery, at: now)
            return try store.keys().count
        }
        let (before, after) = (end.plus(days: 1), end.plus(days: 1, milliseconds: 1))
        #expect(try delete(sentAt: before, at: after) == 2)
        #expect(try delete(sentAt: after, at: before) == 2)
        #expect(try delete(sentAt: after, at: after) == 1)
    }
}
