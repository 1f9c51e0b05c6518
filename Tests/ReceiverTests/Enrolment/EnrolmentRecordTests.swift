import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// What a phone tells its provider, and when it does so again.
@Suite struct EnrolmentRecordTests {
    private func record(_ phone: Installation) throws -> DeviceRegistration {
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        let work = try phone.enrolment.begin(plan, at: .start)
        phone.file = work.state.json
        return try DeviceRegistration(json: #require(work.request).record.json)
    }

    @Test(arguments: StoreKind.allCases) func aRecordHasWhatIsKnown(_ kind: StoreKind) throws {
        let provider = try Provider()
        let certificate = try provider.rotate(at: .start)
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(try provider.key.publicKey, certificate: certificate)])
        phone.circumstances = EnrolmentCircumstances(
            appVersion: AppVersion("2.3.1"), pushToken: [0x8F, 0x3A], environment: .development, grant: "Z3JhbnQ")
        let record = try record(phone)
        #expect(record.deviceID == (try phone.device()) && record.topic == .app && record.generation == 1)
        #expect(record.pinnedProvider == (try provider.key.publicKey) && record.certificate == certificate)
        #expect(record.token == "8f3a" && record.environment == .development && record.grant == "Z3JhbnQ")
        #expect(record.appVersion == AppVersion("2.3.1"))
        #expect(record.updateKey == (try phone.store.updateKey(of: "default").publicKey))
        #expect(record.sequence == Timestamp.start.milliseconds && record.nonce != nil)
    }

    @Test(arguments: StoreKind.allCases) func anEmptyRecordSaysNothing(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        phone.circumstances = EnrolmentCircumstances()
        let record = try record(phone)
        #expect(record.pinnedProvider == nil && record.certificate == nil && record.appVersion == nil)
        #expect(record.token == nil && record.environment == nil && record.grant == nil)
        #expect(record.updateKey != nil && record.sequence != nil && record.nonce != nil)
    }

    /// A provider would refuse the whole record.
    @Test(arguments: StoreKind.allCases) func whatARecordCannotHaveIsLeftOut(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.circumstances.pushToken = Bytes(repeating: 1, count: 101)
        for grant in ["", "no grant", "é", String(repeating: "A", count: 1025)] {
            phone.circumstances.grant = grant
            let record = try record(phone)
            #expect(record.token == nil && record.grant == nil)
        }
        phone.circumstances.grant = String(repeating: "A", count: 1024)
        #expect(try record(phone).grant?.utf8.count == 1024)
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .acknowledged)
    }

    @Test(arguments: StoreKind.allCases) func whatChangesIsReported(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        phone.circumstances.environment = .production
        #expect(try phone.launch(with: provider) == "register-again(token-changed)")
        for grant in ["Z3JhbnQ", "b3RoZXI", nil] {
            phone.circumstances.grant = grant
            #expect(try phone.launch(with: provider) == "register-again(grant-changed)")
            #expect(try phone.launch(with: provider) == "nothing")
        }
    }

    /// The update key is the account's, and another device has another.
    @Test(arguments: StoreKind.allCases) func theUpdateKeyStaysWithTheDevice(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let first = try record(phone).updateKey
        #expect(try record(phone).updateKey == first)
        try phone.launch(with: provider)
        #expect(try provider.devices.map(\.updateKey) == [first])
        phone.account = "second"
        #expect(try record(phone).updateKey != first)
        phone.account = "default"
        try phone.logOut()
        #expect(try record(phone).updateKey != first)
    }

    /// For the clock of now, of an erased memory, of a battery that was empty, and of a copy of the state. [D-45]
    @Test(arguments: StoreKind.allCases) func eachRecordIsLaterThanTheOneBefore(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        func next(_ milliseconds: UInt64) throws -> UInt64? {
            try phone.begin(at: Timestamp(milliseconds: milliseconds)).record.sequence
        }
        #expect(try next(0) == 1)
        #expect(try next(0) == 2)
        #expect(try next(9_007_199_254_740_991) == 3)
        #expect(try next(4_102_444_800_001) == 4)
        #expect(try next(1_767_225_600_000) == 1_767_225_600_000)
        #expect(try next(1_767_225_600_000) == 1_767_225_600_001)
        #expect(try next(1_767_225_599_000) == 1_767_225_600_002)
        #expect(try next(4_102_444_800_000) == 4_102_444_800_000)
        #expect(try next(0) == 4_102_444_800_001)
        let nonces = try (0..<2).map { _ in try phone.begin().record.nonce }
        #expect(nonces[0] != nonces[1])
    }

    /// What a message has taught the phone, its next record proves: the provider may have an old store.
    @Test(arguments: StoreKind.allCases) func aRecordProvesTheHighestCertificate(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let certificate = try provider.rotate(at: .start)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try record(phone).certificate == certificate)

        // A copy of the store from before the rotation.
        let old = try Provider()
        _ = try old.store.importProviderKey(provider.key, named: "copy", topic: .app, at: .start)
        try old.store.setDefaultProviderKey(named: "copy")
        #expect(try old.store.providerKey().warning == nil)
        phone.circumstances.pushToken = [1]
        try phone.launch(with: old)
        #expect(phone.results.last?.key == .acknowledged)
        #expect(try old.store.providerKey().warning?.code == .staleStore)
    }
}
