import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Whom a device believes: pins of accounts, and what was learned of each provider. The same in every store.
struct TrustTests {
    private let provider: TestProvider
    private let next: TestProvider

    init() throws {
        provider = try TestProvider()
        next = try TestProvider(ProviderKey())
    }

    private func trust(_ store: any DeviceKeyStore, _ account: String = "default") throws -> ProviderTrust {
        try store.trust(for: .app, account: account)
    }

    // MARK: Pins

    @Test(arguments: DeviceStoreKind.allCases)
    func aPinnedProviderIsBelieved(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        #expect(try store.pinnedProviders().isEmpty)
        #expect(try store.pinProvider(provider.publicKey, topic: .app, at: start) == .added)
        #expect(try store.pinProvider(provider.publicKey, topic: .app, at: start + 1) == .unchanged)
        #expect(try trust(store) == ProviderTrust(pinned: [provider.publicKey]))
        let record = try #require(try store.pinnedProviders().first)
        #expect(record.account == "default" && record.key == provider.publicKey && record.origin == .app)
        #expect(try record.topic == .app && record.createdAt == start)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func accountsDoNotSharePins(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        try store.pinProvider(provider.publicKey, for: "anna", topic: .app, at: start)
        try store.pinProvider(next.publicKey, for: "ben", topic: .app, at: start)
        #expect(try trust(store, "anna").pinned == [provider.publicKey])
        #expect(try trust(store, "ben").pinned == [next.publicKey])
        #expect(try trust(store, "carla").pinned.isEmpty)
        // Spelt alike, and another account.
        #expect(try trust(store, "a\u{6e}na").pinned.count == 1 && trust(store, "Anna").pinned.isEmpty)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aProviderOfOneAppIsNotBelievedForAnother(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        try store.pinProvider(next.publicKey, for: "every app", at: start)
        #expect(try store.trust(for: .other, account: "default").pinned.isEmpty)
        for topic in [try Topic.app, try .other] {
            #expect(try store.trust(for: topic, account: "every app").pinned == [next.publicKey])
        }
        #expect(code { try store.pinProvider(provider.publicKey, topic: .other, at: start) } == .topicMismatch)
        #expect(code { try store.pinProvider(next.publicKey, at: start) } == .topicMismatch)
        #expect(try store.pinnedProviders().count == 2)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func anAccountHasTwoPinsAtMost(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let third = ProviderKey().publicKey
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        try store.pinProvider(next.publicKey, topic: .app, at: start)
        #expect(code { try store.pinProvider(third, topic: .app, at: start) } == .tooManyPins)
        let three = [provider.publicKey, next.publicKey, third].map { ProviderPin($0) }
        #expect(code { try store.setPins(three, for: "default", topic: .app, at: start) } == .tooManyPins)
        #expect(try trust(store).pinned == [provider.publicKey, next.publicKey])
        #expect(try store.pinProvider(next.publicKey, topic: .app, at: start) == .unchanged)
        #expect(try store.unpinProvider(provider.publicKey, for: "default"))
        #expect(try store.pinProvider(third, topic: .app, at: start) == .added)
        #expect(try trust(store).pinned == [next.publicKey, third])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aReplyPinsTheFirstProviderAndNoOther(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let certificate = try provider.certificate(3)
        let pin = ProviderPin(provider.publicKey, certificate: certificate)
        try store.pinFirstProvider(pin, for: "default", topic: .app, at: start)
        #expect(try store.pinnedProviders().map(\.origin) == [.reply])
        #expect(try trust(store).learned == LearnedTrust(certificate))
        let other = ProviderPin(next.publicKey)
        #expect(
            code { try store.pinFirstProvider(other, for: "default", topic: .app, at: start) } == .providerAlreadyPinned
        )
        #expect(
            code { try store.pinFirstProvider(pin, for: "default", topic: .other, at: start) } == .providerAlreadyPinned
        )
        // A later reply of the same provider.
        let later = try provider.certificate(5)
        let again = ProviderPin(provider.publicKey, certificate: later)
        try store.pinFirstProvider(again, for: "default", topic: .app, at: start + 9)
        #expect(try trust(store).learned == LearnedTrust(later))
        #expect(try store.pinnedProviders().map(\.createdAt) == [start])
        // What the app has pinned, no reply replaces.
        try store.setPins([other], for: "default", topic: .app, at: start)
        #expect(
            code { try store.pinFirstProvider(again, for: "default", topic: .app, at: start) } == .providerAlreadyPinned
        )
        #expect(try trust(store).pinned == [next.publicKey])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func theAppsPinsReplaceAllOthersInOneStep(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let stranger = ProviderKey().publicKey
        try store.pinFirstProvider(ProviderPin(stranger), for: "default", topic: .app, at: start)
        try store.pinProvider(stranger, for: "ben", topic: .app, at: start)
        let certificate = try provider.certificate(7)
        let pins = [ProviderPin(next.publicKey), ProviderPin(provider.publicKey, certificate: certificate)]
        let wrong = [ProviderPin(provider.publicKey), ProviderPin(next.publicKey, certificate: certificate)]
        #expect(
            code { try store.setPins(wrong, for: "default", topic: .app, at: start) } == .badCertificateSignature)
        #expect(try trust(store).pinned == [stranger])

        try store.setPins(pins, for: "default", topic: .app, at: start + 1)
        #expect(try trust(store).pinned == [next.publicKey, provider.publicKey], "in the app's order")
        #expect(try trust(store).pins[1].learned.certificate == certificate)
        try store.setPins(pins.reversed(), for: "default", topic: .app, at: start + 2)
        #expect(try trust(store).pinned == [provider.publicKey, next.publicKey])
        let mine = try store.pinnedProviders().filter { $0.account == "default" }
        #expect(mine.map(\.origin) == [.app, .app] && mine.map(\.createdAt) == [start + 1, start + 1])
        #expect(try trust(store, "ben").pinned == [stranger], "another account's pin stays")
        try store.setPins([], for: "default", topic: .app, at: start)
        #expect(try trust(store).pinned.isEmpty)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRemovedProviderIsNotBelieved(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        #expect(try !store.unpinProvider(next.publicKey, for: "default"))
        #expect(try !store.unpinProvider(provider.publicKey, for: "ben"))
        #expect(try store.unpinProvider(provider.publicKey, for: "default"))
        #expect(try !store.unpinProvider(provider.publicKey, for: "default"))
        #expect(try trust(store).pinned.isEmpty && store.pinnedProviders().isEmpty)
    }

    // MARK: Pin and certificate

    @Test(arguments: DeviceStoreKind.allCases)
    func aPinAndItsCertificateAreStoredTogetherOrNotAtAll(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let good = try provider.certificate(4, floor: 2)
        var bytes = good.bytes
        bytes[120] ^= 1
        let forged = Certificate(checked: bytes)
        let ofAnotherApp = try TestProvider(provider.key, topic: "com.example.other").certificate(4)
        let ofAnotherProvider = try UnsignedCertificate(
            CertificatePlan(epoch: 4, floor: 4, graceUntil: nil, expiresAt: nil),
            for: TestProvider.signingKey(0).publicKey, provider: next.publicKey, topic: .app
        ).signed(by: next.key)
        for wrong in [forged, ofAnotherApp, ofAnotherProvider] {
            #expect(
                code { try store.pinProvider(provider.publicKey, certificate: wrong, topic: .app, at: start) }
                    == .badCertificateSignature)
        }
        #expect(try store.pinnedProviders().isEmpty)
        #expect(try store.pinProvider(provider.publicKey, certificate: good, topic: .app, at: start) == .added)
        #expect(try trust(store).learned == LearnedTrust(good))
        let later = try provider.certificate(5, floor: 1)
        #expect(try store.pinProvider(provider.publicKey, certificate: later, topic: .app, at: start) == .updated)
        #expect(try store.pinProvider(provider.publicKey, certificate: good, topic: .app, at: start) == .unchanged)
        #expect(try trust(store).learned == LearnedTrust(later, floor: 2))
    }

    /// A pin for whichever app the account's keys are for: the certificate is for that app.
    @Test(arguments: DeviceStoreKind.allCases)
    func aCertificateIsForOneApp(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let certificate = try provider.certificate(4)
        #expect(
            code { try store.pinProvider(provider.publicKey, certificate: certificate, at: start) } == .topicMismatch)
        _ = try store.generateDeviceKey(topic: .app, at: start)
        #expect(try store.pinProvider(provider.publicKey, certificate: certificate, at: start) == .added)
        #expect(try trust(store).learned.certificate == certificate)
        #expect(try store.trust(for: .other, account: "default").learned.certificate == nil)
    }

    // MARK: Learned trust

    /// [T-6]
    @Test(arguments: DeviceStoreKind.allCases)
    func whatWasLearnedBelongsToNoAccountAndOutlivesEveryPin(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        _ = try store.generateDeviceKey(named: "anna", topic: .app, at: start)
        let certificate = try provider.certificate(9, floor: 9)
        try store.pinProvider(provider.publicKey, certificate: certificate, for: "anna", topic: .app, at: start)
        try store.pinProvider(provider.publicKey, for: "ben", topic: .app, at: start)
        #expect(try trust(store, "ben").learned == LearnedTrust(certificate), "what one account has learned, all know")
        let losses: [(any DeviceKeyStore) throws -> Void] = [
            { _ = try $0.unpinProvider(provider.publicKey, for: "anna") },
            { _ = try $0.removeAccount("anna") },
            { try $0.setPins([], for: "anna", topic: .app, at: start) },
            { try $0.purgeEverything() },
        ]
        for lose in losses {
            try lose(store)
            // An old certificate comes with the pin.
            let old = try provider.certificate(3)
            try store.pinProvider(provider.publicKey, certificate: old, for: "anna", topic: .app, at: start)
            #expect(try trust(store, "anna").learned == LearnedTrust(certificate))
        }
        #expect(try trust(store, "ben").pinned.isEmpty && store.deviceKeys().isEmpty, "everything was purged")
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aLogOutRemovesTheAccountsKeysAndPins(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        for account in ["anna", "ben"] {
            _ = try store.generateDeviceKey(named: account, topic: .app, at: start)
            try store.pinProvider(provider.publicKey, for: account, topic: .app, at: start)
        }
        #expect(try store.purgeDeviceKeys(named: "ben").count == 1)
        #expect(try trust(store, "ben").pinned == [provider.publicKey], "a purge of the keys keeps the pins")
        #expect(try store.removeAccount("anna").map(\.name) == ["anna"])
        #expect(try store.removeAccount("anna").isEmpty)
        #expect(try store.deviceKeys().isEmpty && store.pinnedProviders().map(\.account) == ["ben"])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func whatIsKeptNeverFalls(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        func accept(_ certificate: Certificate) throws -> ProviderTrust.Change {
            try store.acceptCertificate(certificate, of: provider.publicKey, topic: .app, at: start)
        }
        let first = try provider.certificate(5, floor: 4)
        #expect(try accept(first) == .raised)
        try store.pinProvider(provider.publicKey, topic: .app, at: start)
        #expect(try accept(provider.certificate(3, floor: 3)) == .unchanged)
        #expect(try accept(first) == .unchanged)
        let later = try provider.certificate(7, floor: 1)
        #expect(try accept(later) == .raised)
        #expect(try trust(store).learned == LearnedTrust(later, floor: 4))
        let twin = try provider.certificate(7, floor: 2, signing: 1)
        #expect(try accept(twin) == .conflict)
        #expect(try trust(store).learned == LearnedTrust(max(later, twin), floor: 4))
        let wrong = try next.certificate(9)
        #expect(code { try accept(wrong) } == .badCertificateSignature)
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func aRepliesCertificateIsOfAnyOfTheAccountsProviders(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        try store.setPins(
            [ProviderPin(provider.publicKey), ProviderPin(next.publicKey)], for: "anna", topic: .app, at: start)
        try store.pinProvider(provider.publicKey, for: "ben", topic: .app, at: start)
        let certificate = try next.certificate(2)
        #expect(try store.acceptCertificate(certificate, for: "anna", topic: .app, at: start) == .raised)
        #expect(try trust(store, "anna").pins.map(\.learned) == [LearnedTrust(), LearnedTrust(certificate)])
        #expect(
            code { try store.acceptCertificate(certificate, for: "ben", topic: .app, at: start) } == .wrongCertificate)
    }

    // MARK: Settling a message

    @Test(arguments: DeviceStoreKind.allCases)
    func aMessageSettlesItsKeyAndItsCertificateTogether(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let active = try store.generateDeviceKey(at: start)
        let pending = try store.rotateDeviceKey(at: start)
        try store.pinProvider(provider.publicKey, at: start)
        let certificate = try provider.certificate(1, floor: 1)
        func settle(_ key: DevicePublicKey, _ certificate: Certificate?) throws {
            try store.settle(
                openedWith: key, provider: provider.publicKey, certificate: certificate, topic: .app, at: start)
        }
        try settle(active.publicKey, nil)
        #expect(try store.deviceKeys().map(\.state) == [.active, .pending])
        for _ in 0..<2 {
            try settle(pending.publicKey, certificate)
            #expect(try store.deviceKeys().map(\.state) == [.retiring, .active])
            #expect(try trust(store).learned == LearnedTrust(certificate))
        }
        try settle(DeviceKey().publicKey, try provider.certificate(2))
        #expect(try trust(store).learned.certificate?.epoch == 2, "a device key that is gone is ignored")
    }

    // MARK: Damage

    @Test func aDamagedRowOfWhatWasLearnedIsNoticedAndPurged() throws {
        let home = try Home()
        let certificate = try provider.certificate(3)
        try home.store.pinProvider(provider.publicKey, certificate: certificate, topic: .app, at: start)
        try home.raw().execute("UPDATE learned SET public_key = zeroblob(32)")
        #expect(code { try trust(home.store) } == .corruptStore)
        try home.store.purgeEverything()
        try home.store.pinProvider(provider.publicKey, topic: .app, at: start)
        #expect(try trust(home.store).learned == LearnedTrust())
    }
}
