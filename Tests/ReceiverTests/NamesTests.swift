import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

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
        _ = try phone.store.generateDeviceKey(named: name, topic: topic, at: .start)
        try provider.store.addDevice(phone.record(named: name), id: name, at: .start)
    }

    /// A sender key, bound here and trusted there for its topic.
    private func addProvider(_ name: String, topic: Topic?, trustedFor trusted: Topic?) throws {
        let record = try provider.store.generateProviderKey(named: name, topic: topic, at: .start)
        try phone.store.pinProvider(record.publicKey, named: name, topic: trusted, at: .start)
    }

    private func push(to account: String, signedBy sender: String, topic: Topic) throws -> Bytes {
        try provider.push(to: account, signedBy: sender, topic: topic, at: .start)
    }

    // MARK: Device keys

    @Test func eachAccountOpensItsOwn() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        for name in Self.accounts { try enrol(name, topic: .app) }
        for name in Self.accounts {
            let reception = phone.receive(try push(to: name, signedBy: "shop", topic: .app), topic: nil, at: .start)
            #expect(reception.shown == DuplicateTests.opened)
            #expect(try reception.opened?.openedWith == phone.newestKey(named: name).publicKey)
        }
    }

    @Test func aBoundKeySaysWhichAppAPushIsFor() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .other)
        for (name, topic) in [("anna", Topic.app), ("ben", .other)] {
            let push = try push(to: name, signedBy: "shop", topic: topic)
            #expect(phone.receive(push, topic: nil, at: .start).code == "opened")
            #expect(phone.receive(push, topic: topic, at: .start).code == "opened")
        }
    }

    /// A sender that seals for one app with the key of another is not this phone's provider.
    @Test(arguments: [Topic.app, .other])
    func aBoundKeyOpensNothingForAnotherApp(_ sealed: Topic) throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", signedBy: "shop", topic: sealed)
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, topic: .other, at: .start)
        #expect(reception.code == KeyStoreError.Code.topicMismatch.description)
        #expect(reception.shown == DuplicateTests.fallback)
        #expect(try StoreFiles(in: phone.folder).changes(since: before) == [])
    }

    @Test func aPushForAnotherAppDoesNotOpenUnderTheBoundTopic() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", signedBy: "shop", topic: .other)
        #expect(phone.receive(push, topic: nil, at: .start).code == "authentication-failed")
        #expect(phone.receive(push, topic: .app, at: .start).code == "authentication-failed")
    }

    @Test func aKeyThatIsBoundToNoAppTakesTheCallsTopicOrTheDefault() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
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
        try addProvider("shop", topic: nil, trustedFor: .app)
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
        try addProvider("shop", topic: nil, trustedFor: nil)
        for name in Self.accounts { try enrol(name, topic: .app) }
        let old = try phone.newestKey(named: "anna").publicKey
        let pending = try phone.store.rotateDeviceKey(named: "anna", at: .start)
        #expect(pending.topic == .app && pending.generation == 2)
        try provider.store.addDevice(phone.record(named: "anna"), id: "anna", at: .start)
        #expect(
            phone.receive(try push(to: "anna", signedBy: "shop", topic: .app), topic: nil, at: .start).code == "opened")

        let states = try phone.store.deviceKeys().map { ($0.name, $0.generation, $0.state) }
        #expect(states.map(\.0) == ["anna", "anna", "ben"])
        #expect(states.map(\.1) == [1, 2, 1])
        #expect(states.map(\.2) == [.retiring, .active, .active])

        let later = Timestamp.start.plus(days: 32)
        #expect(try phone.store.purgeRetiredDeviceKeys(named: "ben", at: later) == [])
        #expect(try phone.store.purgeRetiredDeviceKeys(named: "anna", at: later).map(\.publicKey) == [old])
    }

    @Test func aLogOutTakesOneAccountsKeysOnly() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        for name in Self.accounts { try enrol(name, topic: .app) }
        _ = try phone.store.rotateDeviceKey(named: "anna", at: .start)
        let pushes = try Self.accounts.map { try push(to: $0, signedBy: "shop", topic: .app) }
        #expect(try phone.store.purgeDeviceKeys(named: "anna").count == 2)
        #expect(phone.receive(pushes[0], topic: nil, at: .start).code == "unknown-recipient-key")
        #expect(phone.receive(pushes[1], topic: nil, at: .start).code == "opened")
        #expect(try phone.store.purgeDeviceKeys(named: "anna") == [])
    }

    // MARK: Sender keys

    @Test(arguments: [
        (Topic.app, "shop", "opened"), (.app, "bank", "authentication-failed"), (.other, "bank", "opened"),
        (.other, "shop", "authentication-failed"), (.app, "both", "opened"), (.other, "both", "opened"),
    ])
    func aSenderIsBelievedForItsOwnApp(_ topic: Topic, _ sender: String, _ code: String) throws {
        try addProvider("shop", topic: .app, trustedFor: .app)
        try addProvider("bank", topic: .other, trustedFor: .other)
        try addProvider("both", topic: nil, trustedFor: nil)
        try enrol("anna", topic: topic)
        let reception = phone.receive(try push(to: "anna", signedBy: sender, topic: topic), topic: nil, at: .start)
        #expect(reception.code == code)
    }

    /// The rotation of one app's key is announced by that app's messages and takes effect for that app.
    @Test func oneSenderRotatesAndTheOtherDoesNot() throws {
        try addProvider("shop", topic: .app, trustedFor: .app)
        try addProvider("bank", topic: .other, trustedFor: .other)
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .other)
        let bank = try provider.store.providerKey(named: "bank").key.publicKey
        let shop = try provider.store.rotateProviderKey(named: "shop", at: .start).record.publicKey
        #expect(try provider.store.announcements(for: shop, to: nil, at: .start).count == 1)
        #expect(try provider.store.announcements(for: bank, to: nil, at: .start) == [])

        for (account, sender, topic) in [("ben", "bank", Topic.other), ("anna", "shop", .app)] {
            #expect(
                phone.receive(try push(to: account, signedBy: sender, topic: topic), topic: nil, at: .start).code
                    == "opened")
        }
        let pins = try phone.store.pinnedProviders().filter { $0.state == .pinned }
        #expect(pins.map(\.name) == ["bank", "shop"])
        #expect(pins.map(\.key) == [bank, shop])
        #expect(pins.map(\.topic) == [.other, .app])
    }

    /// A key that is trusted for one app cannot give its place away in messages of another.
    @Test func aRotationInAnotherAppsMessageHasNoEffect() throws {
        try addProvider("shop", topic: .app, trustedFor: .app)
        try addProvider("bank", topic: .other, trustedFor: .other)
        try enrol("ben", topic: .other)
        let shop = try provider.store.providerKey(named: "shop").key
        let bank = try provider.store.providerKey(named: "bank").key
        var options = Sealer.Options()
        options.announcing = [try RotationStatement(from: shop, to: ProviderKey(), at: .start)]
        let push = try Sealer(provider: bank, topic: .other)
            .seal(Provider.payload.utf8, to: phone.newestKey(named: "ben").publicKey, at: .start, options: options)
        let before = try phone.store.pinnedProviders()
        #expect(phone.receive(push.json, topic: nil, at: .start).code == "opened")
        #expect(try phone.store.pinnedProviders() == before)
    }

    // MARK: Defaults

    @Test func theFirstKeyIsTheDefaultUntilAnotherIsChosen() throws {
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .app)
        #expect(try phone.newestKey().name == "anna")
        try phone.store.setDefaultDeviceKey(named: "ben")
        #expect(try phone.newestKey().name == "ben")
        #expect(try phone.store.rotateDeviceKey(at: .start).name == "ben")

        _ = try provider.store.generateProviderKey(named: "second", at: .start)
        #expect(try provider.store.providerKey(named: nil).record.name == "default")
        try provider.store.setDefaultProviderKey(named: "second")
        #expect(try provider.store.rotateProviderKey(at: .start).record.name == "second")
        #expect(try provider.store.providerKey(named: "default").record.generation == 1)
    }

    @Test func whenTheDefaultIsGoneTheLastOneLeftIsMeantAndOfSeveralNone() throws {
        for name in ["anna", "ben", "carl"] { try enrol(name, topic: .app) }
        _ = try phone.store.purgeDeviceKeys(named: "anna")
        #expect(throws: KeyStoreError(.ambiguousName, "")) { try phone.store.rotateDeviceKey(at: .start) }
        #expect(throws: KeyStoreError(.unknownName, "")) {
            try phone.store.rotateDeviceKey(named: "anna", at: .start)
        }
        _ = try phone.store.purgeDeviceKeys(named: "ben")
        #expect(try phone.newestKey().name == "carl")
    }

    /// The default is for commands; what opens a push is the key that the push names.
    @Test func withoutADefaultEveryAccountStillOpens() throws {
        try addProvider("shop", topic: nil, trustedFor: nil)
        for name in ["anna", "ben", "carl"] { try enrol(name, topic: .app) }
        _ = try phone.store.purgeDeviceKeys(named: "anna")
        for name in ["ben", "carl"] {
            #expect(
                phone.receive(try push(to: name, signedBy: "shop", topic: .app), topic: nil, at: .start).code
                    == "opened")
        }
    }
}
