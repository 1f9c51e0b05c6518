import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Simulated

/// Several accounts and several apps in one store: each key has a name and is bound to its topic.
@Suite struct NamesTests {
    /// A provider of two apps, and a phone whose accounts trust its key `shop`.
    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(hasKey: false)
        let key = try provider.store.generateProviderKey(named: "shop", at: .start).publicKey
        for account in ["anna", "ben"] { try phone.store.edit { try $0.pin(ProviderPin(key), for: account) } }
    }

    /// A device key, registered under its own name.
    private func enrol(_ name: String, topic: Topic?) throws {
        try phone.store.edit { try $0.add(to: name, topic: topic, at: .start) }
        try provider.store.addDevice(phone.record(named: name), id: name, at: .start)
    }

    private func push(to account: String, topic: Topic) throws -> Bytes {
        try provider.push(to: account, signedBy: "shop", topic: topic, at: .start)
    }

    @Test func aBoundKeySaysWhichAppAPushIsFor() throws {
        try enrol("anna", topic: .app)
        try enrol("ben", topic: .other)
        for (name, topic) in [("anna", Topic.app), ("ben", .other)] {
            let push = try push(to: name, topic: topic)
            #expect(phone.receive(push, topic: nil, at: .start).code == "opened")
            #expect(phone.receive(push, topic: topic, at: .start).code == "opened")
        }
    }

    /// A provider that seals for one app with the key of another is not this phone's.
    @Test(arguments: [Topic.app, .other])
    func aBoundKeyOpensNothingForAnotherApp(_ sealed: Topic) throws {
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", topic: sealed)
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, topic: .other, at: .start)
        #expect(reception.code == KeyStoreError.Code.topicMismatch.description)
        #expect(reception.shown == DuplicateTests.fallback)
        #expect(try StoreFiles(in: phone.folder).changes(since: before) == [])
    }

    @Test func aPushForAnotherAppDoesNotOpenUnderTheBoundTopic() throws {
        try enrol("anna", topic: .app)
        let push = try push(to: "anna", topic: .other)
        #expect(phone.receive(push, topic: nil, at: .start).code == "authentication-failed")
        #expect(phone.receive(push, topic: .app, at: .start).code == "authentication-failed")
    }

    @Test func aKeyThatIsBoundToNoAppTakesTheCallsTopicOrTheDefault() throws {
        try enrol("anna", topic: nil)
        let push = try push(to: "anna", topic: .app)
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
        try enrol("anna", topic: .app)
        let receiver = phone.receiver(topic: nil, defaultTopic: .other)
        let push = try push(to: "anna", topic: .app)
        #expect(receiver.receive(push, requestID: nil, at: .start).code == "opened")
    }

    @Test func aPushToAnUnknownKeyNeedsNoTopicToSaySo() throws {
        try enrol("anna", topic: .app)
        _ = try provider.store.addDevice(
            DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: .start), id: "stranger", at: .start)
        let push = try push(to: "stranger", topic: .app)
        #expect(phone.receive(push, topic: nil, at: .start).code == "unknown-recipient-key")
    }
}
