import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Simulated

/// Several accounts and several apps in one store: each key has a name and is bound to its topic.
@Suite struct NamesTests {
    static let accounts = ["anna", "ben"]

    /// A provider of two apps, and a phone with an account in each of them, and one in both.
    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(hasKey: false)
    }

    /// A device key, registered under its own name.
    private func enrol(_ name: String, topic: Topic?) throws {
        try phone.store.edit { try $0.add(to: name, topic: topic, at: .start) }
        try provider.store.addDevice(phone.record(named: name), id: name, at: .start)
    }

    /// A provider key, bound here to its topic, and trusted there by these accounts.
    private func addProvider(_ name: String, topic: Topic? = nil, by accounts: [String] = Self.accounts) throws {
        let key = try provider.store.generateProviderKey(named: name, topic: topic, at: .start).publicKey
        for account in accounts { try phone.store.edit { try $0.pin(ProviderPin(key), for: account) } }
    }

    private func push(to account: String, signedBy name: String, topic: Topic) throws -> Bytes {
        try provider.push(to: account, signedBy: name, topic: topic, at: .start)
    }

    // MARK: Device keys

    @Test func eachAccountOpensItsOwn() throws {
        try addProvider("shop")
        for name in Self.accounts { try enrol(name, topic: .app) }
        for name in Self.accounts {
            let reception = phone.receive(try push(to: name, signedBy: "shop", topic: .app), topic: nil, at: .start)
            #expect(reception.shown == DuplicateTests.opened)
            #expect(try reception.opened?.openedWith == phone.newestKey(named: name).publicKey)
        }
    }

    @Test func aBoundKeySaysWhichAppAPushIsFor() throws {
        try addProvider("shop")
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .other)
        for (name, topic) in [("anna", Topic.app), ("ben", .other)] {
            let push = try push(to: name, signedBy: "shop", topic: topic)
            #expect(phone.receive(push, topic: nil, at: .start).code == "opened")
            #expect(phone.receive(push, topic: topic, at: .start).code == "opened")
        }
    }

    /// A provider that seals for one app with the key of another is not this phone's.
    @Test(arguments: [Topic.app, .other])
    func aBoundKeyOpensNothingForAnotherApp(_ sealed: Topic) throws {
        try addProvider("shop")
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", signedBy: "shop", topic: sealed)
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, topic: .other, at: .start)
        #expect(reception.code == KeyStoreError.Code.topicMismatch.description)
        #expect(reception.shown == DuplicateTests.fallback)
        #expect(try StoreFiles(in: phone.folder).changes(since: before) == [])
    }

    @Test func aPushForAnotherAppDoesNotOpenUnderTheBoundTopic() throws {
        try addProvider("shop")
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", signedBy: "shop", topic: .other)
        #expect(phone.receive(push, topic: nil, at: .start).code == "authentication-failed")
        #expect(phone.receive(push, topic: .app, at: .start).code == "authentication-failed")
    }

    @Test func aKeyThatIsBoundToNoAppTakesTheCallsTopicOrTheDefault() throws {
        try addProvider("shop")
        try enrol("anna", topic: nil)
        let push = try push(to: "anna", signedBy: "shop", topic: .app)
        #expect(phone.receive(push, topic: .app, at: .start).code == "opened")
        let nowhere = phone.receive(push, topic: nil, at: .start)
        #expect(nowhere.code == "no-topic")
        #expect(nowhere.shown == DuplicateTests.fallback)
        for (standard, code) in [(Topic.app, "opened"), (.other, "authentication-failed")] {
            let receiver = phone.receiver(topic: nil, defaultTopic: standard)
            #expect(receiver.receive(push, requestID: nil, at: .start).code == code)
        }
    }

    @Test func theDefaultTopicIsNotForABoundKey() throws {
        try addProvider("shop")
        try enrol("anna", topic: .app)
        let receiver = phone.receiver(topic: nil, defaultTopic: .other)
        let push = try push(to: "anna", signedBy: "shop", topic: .app)
        #expect(receiver.receive(push, requestID: nil, at: .start).code == "opened")
    }

    @Test func aPushToAnUnknownKeyNeedsNoTopicToSaySo() throws {
        try enrol("anna", topic: .app)
        _ = try provider.store.addDevice(
            DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: .start), id: "stranger", at: .start)
        let push = try push(to: "stranger", signedBy: "default", topic: .app)
        #expect(phone.receive(push, topic: nil, at: .start).code == "unknown-recipient-key")
    }

    @Test func oneAccountRotatesAndTheOtherDoesNot() throws {
        try addProvider("shop")
        for name in Self.accounts { try enrol(name, topic: .app) }
        let old = try phone.newestKey(named: "anna").publicKey
        #expect(try phone.store.edit { try $0.rotate("anna", at: .start).generation } == 2)
        try provider.store.addDevice(phone.record(named: "anna"), id: "anna", at: .start)
        #expect(
            phone.receive(try push(to: "anna", signedBy: "shop", topic: .app), topic: nil, at: .start).code == "opened")

        #expect(try phone.store.keys(of: "anna").map(\.generation) == [1, 2])
        #expect(try phone.store.keys(of: "anna").map(\.state) == [.retiring, .active])
        #expect(try phone.store.keys(of: "ben").map(\.state) == [.active])
        let later = Timestamp.start.plus(days: 32)
        #expect(try phone.store.edit { $0.purge("ben", endedBefore: later) } == [])
        #expect(try phone.store.edit { $0.purge("anna", endedBefore: later) }.map(\.publicKey) == [old])
    }

    @Test func aLogOutTakesOneAccountsKeysOnly() throws {
        try addProvider("shop")
        for name in Self.accounts { try enrol(name, topic: .app) }
        try phone.store.edit { try $0.rotate("anna", at: .start) }
        let pushes = try Self.accounts.map { try push(to: $0, signedBy: "shop", topic: .app) }
        #expect(try phone.store.edit { $0.removeAccount("anna") }.count == 2)
        #expect(phone.receive(pushes[0], topic: nil, at: .start).code == "unknown-recipient-key")
        #expect(phone.receive(pushes[1], topic: nil, at: .start).code == "opened")
        #expect(try phone.store.edit { $0.removeAccount("anna") } == [])
    }

    // MARK: Provider keys

    @Test(arguments: [
        (Topic.app, "shop", "opened"), (.app, "bank", "authentication-failed"), (.other, "bank", "opened"),
        (.other, "shop", "authentication-failed"),
    ])
    func aProviderIsBelievedForItsOwnApp(_ topic: Topic, _ name: String, _ code: String) throws {
        try addProvider("shop", topic: .app, by: topic == .app ? ["anna"] : ["ben"])
        try addProvider("bank", topic: .other, by: topic == .other ? ["anna"] : ["ben"])
        try enrol("anna", topic: topic)
        let reception = phone.receive(try push(to: "anna", signedBy: name, topic: topic), topic: nil, at: .start)
        #expect(reception.code == code)
    }

    /// A key that signs for several apps: the certificate is of one of them.
    @Test func aCertificateIsOfOneApp() throws {
        try addProvider("shop", topic: .app)
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .other)
        let before = try push(to: "ben", signedBy: "shop", topic: .other)
        _ = try provider.store.rotateSigningKey(
            named: "shop", stolen: true, anyway: true, at: .start)
        #expect(
            phone.receive(try push(to: "anna", signedBy: "shop", topic: .app), topic: nil, at: .start).code == "opened")
        let key = try provider.store.providerKey(named: "shop")
        let state = try phone.store.state()
        #expect(state.trust(for: .app, account: "anna").pins[0].learned.certificate == key.certificate)
        #expect(state.trust(for: .other, account: "ben").pins[0].learned.certificate == nil)
        #expect(phone.receive(before, topic: nil, at: .start).code == "opened")
    }

    // MARK: Defaults

    @Test func theFirstKeyIsTheDefaultUntilAnotherIsChosen() throws {
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .app)
        func standard() throws -> String { try phone.store.state().accountWithKeys().name }
        #expect(try standard() == "anna")
        try phone.store.edit { try $0.setDefault("ben") }
        #expect(try standard() == "ben")
        // Without it another takes its place.
        try phone.store.edit { $0.removeAccount("ben") }
        #expect(try standard() == "anna")

        _ = try provider.store.generateProviderKey(named: "second", at: .start)
        #expect(try provider.store.providerKey().name == "default")
        try provider.store.setDefaultProviderKey(named: "second")
        #expect(try provider.store.providerKey().name == "second")
    }

    /// The default is for commands; what opens a push is the key that the push names.
    @Test func withoutADefaultEveryAccountStillOpens() throws {
        try addProvider("shop", by: ["anna", "ben", "carl"])
        for name in ["anna", "ben", "carl"] { try enrol(name, topic: .app) }
        try phone.store.edit { $0.removeAccount("anna") }
        for name in ["ben", "carl"] {
            #expect(
                phone.receive(try push(to: name, signedBy: "shop", topic: .app), topic: nil, at: .start).code
                    == "opened")
        }
    }
}
