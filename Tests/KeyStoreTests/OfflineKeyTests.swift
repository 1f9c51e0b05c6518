import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider key that is kept elsewhere, and certificates that are carried to the store.
struct OfflineKeyTests {
    private static let day: UInt64 = 86_400
    private let key = ProviderKey()

    private func offline(_ kind: StoreKind = .memory) throws -> Home {
        let home = try Home(kind)
        _ = try home.store.addOfflineProviderKey(key, topic: .app, at: start)
        return home
    }

    // MARK: Keys

    @Test(arguments: StoreKind.allCases)
    func aKeyMadeOfflineSignsNoMessage(_ kind: StoreKind) throws {
        let home = try offline(kind)
        let record = try home.store.providerKey()
        let certificate = try #require(record.certificate)
        #expect(record.isOffline && record.isDefault && record.publicKey == key.publicKey)
        #expect(certificate.epoch == UInt32(start.milliseconds / 1000))
        #expect(certificate.floor == certificate.epoch && certificate.graceUntil == nil)
        #expect(throws: Never.self) { try certificate.check(for: key.publicKey, topic: .app) }
        #expect(try home.store.signer().epoch == certificate.epoch)
        #expect(code { try home.store.providerSecret() } == .providerOffline)
        #expect(code { try home.store.rotateSigningKey(at: start + 1) } == .providerOffline)
        #expect(home.store.check().allSatisfy { $0.severity == .note })
        if kind == .disk { #expect(try !home.scratch.bytes().contains(key.seed)) }
    }

    /// The provider key may be in a hardware module, and certify there.
    @Test func aKeyElsewhereComesInByWhatItHasCertified() throws {
        let store = try Home(.memory).store
        let signingKey = SigningKey()
        func credential(by provider: ProviderKey, for topic: Topic) throws -> SigningCredential {
            let certificate = try UnsignedCertificate(
                CertificatePlan(offlineAt: start), for: signingKey.publicKey, provider: provider.publicKey, topic: topic
            ).signed(by: provider)
            return try SigningCredential(signingKey, certificate, by: key.publicKey)
        }
        for wrong in [
            try credential(by: ProviderKey(), for: .app), try credential(by: key, for: Topic("com.example.other")),
        ] {
            #expect(
                code { try store.addOfflineProviderKey(signing: wrong, topic: .app, at: start) }
                    == .badCertificateSignature)
        }
        #expect(try store.providerKeys().isEmpty)
        let right = try credential(by: key, for: .app)
        let record = try store.addOfflineProviderKey(signing: right, topic: .app, at: start)
        #expect(record.isOffline && record.publicKey == key.publicKey && record.certificate == right.certificate)
        #expect(try store.signer().publicKey == signingKey.publicKey.bytes)
    }

    @Test func aKeyTakenOfflineIsInNoneOfTheFiles() throws {
        let home = try Home()
        _ = try home.store.importProviderKey(key, topic: .app, at: start)
        try home.store.rotateSigningKey(at: start)
        let sealed = try #require(try home.sealed())
        let before = try home.store.providerKey()
        #expect(code { try home.store.takeProviderKeyOffline(ProviderKey(), at: start) } == .wrongCertificate)
        let record = try home.store.takeProviderKeyOffline(key, at: start)
        #expect(record.isOffline && record.certificate == before.certificate)
        #expect(try !home.holds(sealed))
        #expect(code { try home.store.providerSecret() } == .providerOffline)
        #expect(code { try home.store.takeProviderKeyOffline(key, at: start) } == .providerOffline)
        #expect(try home.reopened().signer().epoch == before.epoch)
    }

    @Test func aKeyTakenOfflineAtEpoch0LeavesASigningKey() throws {
        let store = try Home(.memory).store
        _ = try store.importProviderKey(key, at: start)
        #expect(code { try store.takeProviderKeyOffline(key, at: start) } == .topicMismatch)
        let record = try store.takeProviderKeyOffline(key, topic: .app, at: start)
        #expect(record.isOffline && record.epoch > 0 && record.certificate?.floor == 0)
        #expect(record.certificate?.graceUntil == start + 38 * Self.day)
        #expect(try store.signer().epoch == record.epoch)
    }

    // MARK: Two steps

    @Test(arguments: StoreKind.allCases)
    func aCertificateIsRequestedCertifiedAndInstalled(_ kind: StoreKind) throws {
        let home = try offline(kind)
        let store = home.store
        let before = try store.providerKey()
        let (request, replacesAnother) = try store.requestCertificate(expires: .days(90), at: start + Self.day)
        #expect(!replacesAnother && request.current == before.certificate && request.provider == key.publicKey)
        #expect(try store.providerKey() == before, "a request changes nothing else")
        let carried = try CertificateRequest(json: request.json)
        let signed = try SignedCertificate(json: carried.certify(by: key, at: start + 2 * Self.day).json)
        var ended: [ProviderKeyRecord] = []
        let after = try store.installCertificate(signed, at: start + 3 * Self.day) { ended.append($0) }
        #expect(ended == [before])
        #expect(after.certificate == signed.certificate && after.signsSince == start + 3 * Self.day)
        #expect(after.epoch == UInt32((start + 2 * Self.day).milliseconds / 1000))
        #expect(after.certificate?.floor == before.epoch && after.isOffline)
        #expect(after.certificate?.expiresAt == start + 92 * Self.day)
        #expect(try store.signer().publicKey == request.signingKey.bytes)
        // A second time changes nothing, and the request is gone.
        #expect(try store.installCertificate(signed, at: start + 3 * Self.day) == after)
        let another = try carried.certify(by: key, at: start + 4 * Self.day)
        #expect(code { try store.installCertificate(another, at: start + 4 * Self.day) } == .wrongCertificate)
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func aWrongCertificateIsRefusedAndChangesNothing() throws {
        let store = try offline().store
        let (request, _) = try store.requestCertificate(at: start + 1)
        let before = try store.providerKey()
        let good = try request.certify(by: key, at: start + 2)
        func refusal(_ signed: SignedCertificate, at now: Timestamp = start + 2) -> KeyStoreError.Code? {
            code { try store.installCertificate(signed, named: "default", at: now) }
        }
        func signed(
            _ plan: CertificatePlan, _ signingKey: SigningPublicKey? = nil, by signer: ProviderKey? = nil,
            topic: Topic? = nil
        ) throws -> SignedCertificate {
            let signer = signer ?? key
            let topic = try topic ?? .app
            let unsigned = try UnsignedCertificate(
                plan, for: signingKey ?? request.signingKey, provider: signer.publicKey, topic: topic)
            return SignedCertificate(
                topic: topic, provider: signer.publicKey, certificate: try unsigned.signed(by: signer))
        }
        func plan(_ epoch: UInt32, expires: Timestamp? = nil) -> CertificatePlan {
            CertificatePlan(epoch: epoch, floor: epoch, graceUntil: nil, expiresAt: expires)
        }
        let next = good.certificate.epoch
        #expect(refusal(try signed(plan(next), SigningKey().publicKey)) == .wrongCertificate)
        #expect(refusal(try signed(plan(next), by: ProviderKey())) == .wrongCertificate)
        #expect(refusal(try signed(plan(next), topic: .other)) == .wrongCertificate)
        // An epoch that is not above the last.
        #expect(refusal(try signed(plan(before.epoch))) == .wrongCertificate)
        #expect(refusal(try signed(plan(1))) == .wrongCertificate)
        #expect(refusal(try signed(plan(next, expires: start + 2))) == .wrongCertificate)
        var bytes = good.certificate.bytes
        bytes[100] ^= 1
        let forged = SignedCertificate(
            topic: good.topic, provider: good.provider, certificate: Certificate(checked: bytes))
        #expect(refusal(forged) == .badCertificateSignature)
        #expect(
            code { try store.installCertificate(signed(plan(next), by: ProviderKey()), at: start) } == .wrongCertificate
        )
        #expect(code { try store.installCertificate(good, named: "other", at: start) } == .unknownName)
        #expect(try store.providerKey() == before)
        #expect(try store.signer().epoch == before.epoch)
        // No clock stops it.
        #expect(refusal(try signed(plan(next + 400 * 86_400)), at: start + 450 * Self.day) == nil)
    }
}
