import Foundation
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// A phone's record for its provider. [D-45]
@Suite struct EnrolmentRecordTests {
    private let phone = Installation()

    private func record() throws -> DeviceRegistration { try DeviceRegistration(json: phone.request().record.json) }

    @Test func aRecordHasWhatIsKnown() throws {
        let provider = try Provider()
        let pin = ProviderPin(try provider.key.publicKey, certificate: try provider.rotate(at: .start))
        phone.terms = EnrolmentTerms(topic: .app, trust: .builtIn([pin]))
        phone.facts = EnrolmentFacts(
            appVersion: AppVersion("2.3.1"), pushToken: [0x8F, 0x3A], environment: .development, grant: "Z3JhbnQ")
        let record = try record()
        #expect(try record.deviceID == phone.device && record.topic == .app && record.generation == 1)
        #expect(record.pinnedProvider == pin.key && record.certificate == pin.certificate)
        #expect(record.token == "8f3a" && record.environment == .development && record.grant == "Z3JhbnQ")
        #expect(try record.appVersion == AppVersion("2.3.1") && record.publicKey == phone.keys.first?.publicKey)
        #expect(try record.updateKey == phone.state.account("default")?.signingKey()?.publicKey)
        #expect(record.sequence == Timestamp.start.milliseconds && record.nonce != nil)
    }

    @Test func anEmptyRecordSaysNothing() throws {
        phone.facts = EnrolmentFacts()
        let record = try record()
        #expect(record.pinnedProvider == nil && record.certificate == nil && record.appVersion == nil)
        #expect(record.token == nil && record.environment == nil && record.grant == nil)
        #expect(record.updateKey != nil && record.sequence != nil && record.nonce != nil)
    }

    /// A provider would refuse the whole record.
    @Test func whatARecordCannotHaveIsLeftOut() throws {
        phone.facts.pushToken = Bytes(repeating: 1, count: 101)
        for grant in ["", "no grant", "é", String(repeating: "A", count: 1025)] {
            phone.facts.grant = grant
            let record = try record()
            #expect(record.token == nil && record.grant == nil)
        }
        phone.facts.grant = String(repeating: "A", count: 1024)
        #expect(try record().grant?.utf8.count == 1024)
        try phone.launch(with: Provider())
        #expect(phone.results.last?.key == .acknowledged)
    }

    /// The update key is the account's, and another device has another.
    @Test func theUpdateKeyStaysWithTheDevice() throws {
        let provider = try Provider()
        let first = try record().updateKey
        #expect(try record().updateKey == first)
        try phone.launch(with: provider)
        #expect(try provider.devices.map(\.updateKey) == [first])
        phone.account = "second"
        #expect(try record().updateKey != first)
        phone.account = "default"
        try phone.hear(.refused(.generationRollback))
        #expect(try record().updateKey != first)
    }

    /// The next record proves a certificate that came with a message: the provider may have an old store.
    @Test func aRecordProvesTheHighestCertificate() throws {
        let provider = try Provider()
        try phone.launch(with: provider)
        let certificate = try provider.rotate(at: .start)
        #expect(try phone.hears(provider) && record().certificate == certificate)

        // A copy of the store from before the rotation.
        let old = try Provider()
        _ = try old.store.importProviderKey(provider.key, named: "copy", topic: .app, at: .start)
        try old.store.setDefaultProviderKey(named: "copy")
        #expect(try old.store.providerKey().warning == nil)
        phone.facts.pushToken = [1]
        try phone.launch(with: old)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try old.store.providerKey().warning?.code == .staleStore)
    }

    // MARK: Sequences

    @Test func aSequenceIsStoredBeforeTheRecordIsSent() throws {
        let record = try record()
        #expect(try phone.registration.sequence == record.sequence && self.record().nonce != record.nonce)
        // That of an end is no record's.
        try send(DeviceEnd.sequence - 1)
        #expect(try self.record().sequence == DeviceEnd.sequence - 1)
    }

    /// `Tests/Data/Vectors/signed.json`
    private static func vectors(_ section: String) throws -> [[String: UInt64]] {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Data/Vectors/signed.json")
        let root = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let vectors = try #require(root?[section] as? [[String: Any]])
        return vectors.map { $0.compactMapValues { ($0 as? NSNumber)?.uint64Value } }
    }

    /// Has sent a record of this sequence.
    private func send(_ last: UInt64) throws {
        _ = try phone.request(at: Timestamp(milliseconds: 0))
        try phone.store.edit { $0.changeRegistration(of: 0) { $0.sequence = last } }
    }

    @Test func theNextSequenceIsAboveTheLastOne() throws {
        let vectors = try Self.vectors("sequences")
        for vector in vectors {
            try send(#require(vector["last"]))
            let clock = Timestamp(milliseconds: try #require(vector["clock"]))
            #expect(try phone.request(at: clock).record.sequence == vector["next"], "\(vector)")
        }
        print("vectors: sequences: \(vectors.count)")
    }

    /// After `stale-record`, and whoever says so. [D-46]
    @Test func aProviderCannotUseUpTheSequences() throws {
        let vectors = try Self.vectors("stale")
        for vector in vectors {
            let request = try phone.request()
            try send(#require(vector["last"]))
            var reply = RegistrationReply(.refused(.staleRecord))
            reply.sequence = vector["told"]
            #expect(try phone.take(reply, to: request).goesOn)
            #expect(try phone.registration.sequence == vector["after"], "\(vector)")
        }
        print("vectors: stale sequences: \(vectors.count)")
    }
}
