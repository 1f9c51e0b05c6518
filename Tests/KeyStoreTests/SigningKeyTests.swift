import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The rotation of the key that signs messages.
struct SigningKeyTests {
    private static let day: UInt64 = 86_400
    private static let first = UInt32(start.milliseconds / 1000)

    private func provider(_ kind: StoreKind = .memory) throws -> Home {
        let home = try Home(kind)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        return home
    }

    @Test(arguments: StoreKind.allCases)
    func aRotationCertifiesANewKeyAndThePinStays(_ kind: StoreKind) throws {
        let store = try provider(kind).store
        let before = try store.providerKey()
        let after = try store.rotateSigningKey(at: start + 10)
        let certificate = try #require(after.certificate)
        #expect(after.publicKey == before.publicKey && after.createdAt == start && after.signsSince == start + 10)
        #expect(certificate.epoch == Self.first + 10 && certificate.floor == 0)
        #expect(certificate.graceUntil == start + 10 + 38 * Self.day && certificate.expiresAt == nil)
        #expect(throws: Never.self) { try certificate.check(for: before.publicKey, topic: .app) }
        #expect(try store.providerKeys() == [after])

        let credential = try #require(try store.signingCredential().credential)
        #expect(credential.certificate == certificate && credential.key.publicKey == certificate.signingKey)
        let signer = try store.signer(named: "default")
        #expect(signer.epoch == certificate.epoch && signer.providerKey == before.publicKey)
        #expect(signer.publicKey == certificate.signingKey.bytes && signer.certificate == certificate)
        // Epoch 0 goes on opening during the grace, so nothing of it is destroyed.
        #expect(try store.providerSecret().publicKey == before.publicKey)
    }

    @Test(arguments: StoreKind.allCases)
    func afterATheftOfAStoreWithTheProviderKeyARotationIsOfNoUse(_ kind: StoreKind) throws {
        let store = try provider(kind).store
        let before = try store.providerKeys()
        let refusal = error { try store.rotateSigningKey(stolen: true, at: start) }
        #expect(refusal?.code == .rotationRefused)
        #expect(
            refusal?.description.contains("make another provider key, keep it offline, and release the app") == true)
        #expect(code { try store.requestCertificate(stolen: true, at: start) } == .rotationRefused)
        #expect(try store.providerKeys() == before)
        #expect(try store.rotateSigningKey(stolen: true, anyway: true, at: start).epoch > 0)
    }

    /// [T-9]
    @Test(arguments: [-1, 1] as [Int])
    func theWarningOfAStaleStoreEndsWithAFloorAboveTheProvenEpoch(_ distance: Int) throws {
        let store = try provider().store
        let current = try store.rotateSigningKey(at: start)
        let key = try store.providerSecret()
        let epoch = UInt32(Int(current.epoch) + distance)
        let foreign = try UnsignedCertificate(
            CertificatePlan(epoch: epoch, floor: epoch, graceUntil: nil, expiresAt: nil), for: SigningKey().publicKey,
            provider: key.publicKey, topic: .app
        ).signed(by: key)
        let record = DeviceRegistration(
            publicKey: DeviceKey().publicKey, topic: try .app, createdAt: start, pinnedProvider: key.publicKey,
            certificate: foreign)
        _ = try store.addDevice(record, id: "phone", at: start)
        #expect(try store.providerKey().warning?.code == .staleStore)
        let request = try store.requestCertificate(at: start + 1).request
        // Certified where nobody knew of it: the floor is not above.
        let careless = CertificateRequest(
            topic: request.topic, provider: request.provider, signingKey: request.signingKey, current: request.current,
            past: request.past)
        let plan = try careless.plan(at: start + 2)
        #expect(plan.floor <= epoch)
        _ = try store.installCertificate(try careless.certify(by: key, at: start + 2), at: start + 2)
        #expect(try store.providerKey().warning?.code == .staleStore)
        let healed = try store.rotateSigningKey(at: start + 3)
        #expect(healed.certificate?.floor == healed.epoch && healed.warning == nil)
    }

    @Test func aYoungKeyStays() throws {
        let store = try provider().store
        func rotate(_ days: UInt64, less: UInt64 = 0) throws -> UInt32? {
            try store.rotateSigningKey(topic: nil, ifOlderThan: .days(5), at: start + (days * Self.day - less))?.epoch
        }
        #expect(try rotate(5, less: 1) == nil && rotate(5) != nil)
        #expect(try rotate(9) == nil && rotate(10) != nil)
    }

    @Test func aKeyForEveryAppIsBoundByItsFirstCertificate() throws {
        let store = try Home(.memory).store
        _ = try store.generateProviderKey(at: start)
        #expect(code { try store.rotateSigningKey(at: start) } == .topicMismatch)
        func rotate(_ topic: Topic?) throws -> ProviderKeyRecord? {
            try store.rotateSigningKey(named: nil, topic: topic, ifOlderThan: nil, at: start)
        }
        #expect(try rotate(.app)?.topic?.bundleID == "com.example.app")
        #expect(code { try rotate(.other) } == .topicMismatch)
        #expect(try rotate(nil)?.topic?.bundleID == "com.example.app")
        #expect(try store.signer().epoch == Self.first + 1)
    }
}
