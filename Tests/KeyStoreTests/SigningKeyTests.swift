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

    @Test func aPhoneFollowsEveryRotationWithOneCertificate() throws {
        let store = try provider().store
        var phone = ProviderTrust(pinned: [try store.providerKey().publicKey])
        var asleep = phone
        for hour in 1...5 as ClosedRange<UInt64> {
            let certificate = try #require(try store.rotateSigningKey(at: start + hour * 3600).certificate)
            #expect(try phone.accept(certificate, for: .app) == .raised)
        }
        let certificate = try #require(try store.providerKey().certificate)
        #expect(try asleep.accept(certificate, for: .app) == .raised)
        #expect(asleep.pins[0].learned.certificate == phone.pins[0].learned.certificate)
    }

    // MARK: Certificates

    @Test func anEpochIsAboveTheLastAndTheSecondsSince1970() throws {
        let store = try provider().store
        var epochs: [UInt32] = []
        for seconds in [0, 0, 0, 1, 100, 100] as [UInt64] {
            epochs.append(try store.rotateSigningKey(at: start + seconds).epoch)
        }
        #expect(epochs == [0, 1, 2, 3, 100, 101].map { Self.first + $0 })
    }

    /// Rotations on these days; the floor on the last is the lowest epoch that was in use within 38 days.
    @Test(
        arguments: [
            ([0], nil), ([0, 20], nil), ([0, 38], nil), ([0, 39], 0), ([0, 20, 40], 0), ([0, 20, 58], 0),
            ([0, 20, 59], 1), ([0, 10, 20, 30, 40, 50], 1),
        ] as [([UInt64], Int?)])
    func aFloorEndsWhatNoServerHasSignedForLong(_ days: [UInt64], _ floor: Int?) throws {
        let store = try provider().store
        var epochs: [UInt32] = []
        for day in days {
            epochs.append(try store.rotateSigningKey(at: start + day * Self.day).epoch)
        }
        let certificate = try #require(try store.providerKey().certificate)
        #expect(certificate.floor == floor.map { epochs[$0] } ?? 0)
        let past = try store.provider().key(nil).past
        #expect(past.allSatisfy { $0.epoch >= certificate.floor }, "the others are forgotten")
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func aFloorNeverFalls() throws {
        let store = try provider().store
        let stolen = try store.rotateSigningKey(stolen: true, anyway: true, at: start)
        #expect(stolen.certificate?.floor == stolen.epoch && stolen.certificate?.graceUntil == nil)
        let planned = try store.rotateSigningKey(at: start + Self.day)
        #expect(planned.certificate?.floor == stolen.epoch)
    }

    @Test func aCertificateMayExpire() throws {
        let store = try provider().store
        #expect(
            try store.rotateSigningKey(expires: .days(90), at: start).certificate?.expiresAt == start + 90 * Self.day)
        #expect(try store.rotateSigningKey(at: start).certificate?.expiresAt == nil)
    }

    // MARK: Refusals

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

    /// Under a clock that was ahead by 390 days, then right again.
    @Test func oneRotationUnderAWrongClockEndsNoOther() throws {
        let store = try provider().store
        let ahead = try store.rotateSigningKey(at: start + 390 * Self.day)
        let stolen = try store.rotateSigningKey(stolen: true, anyway: true, at: start)
        #expect(stolen.epoch == ahead.epoch + 1 && stolen.certificate?.floor == stolen.epoch)
        #expect(try store.rotateSigningKey(at: start + 1).epoch == stolen.epoch + 1)
        #expect(try store.signer().epoch == stolen.epoch + 1)
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

    @Test func aYoungKeyStays() throws {
        let store = try provider().store
        var ended: [UInt32] = []
        func rotate(at now: Timestamp) throws -> UInt32? {
            try store.rotateSigningKey(named: nil, topic: nil, ifOlderThan: .days(5), at: now) {
                ended.append($0.epoch)
            }?
            .epoch
        }
        #expect(try rotate(at: start + (5 * Self.day - 1)) == nil)
        let first = try #require(try rotate(at: start + 5 * Self.day))
        #expect(try rotate(at: start + 9 * Self.day) == nil)
        #expect(try rotate(at: start + 10 * Self.day) != nil)
        #expect(ended == [0, first])
    }

    // MARK: The old key

    @Test func theOldSigningKeyIsInNoneOfTheFiles() throws {
        let home = try provider(.disk)
        try home.store.rotateSigningKey(at: start)
        let seed = try #require(try home.store.signingCredential().credential).key.withSeed { Bytes(copying: $0) }
        let old = try #require(try home.sealed())
        #expect(try home.holds(old))
        try home.store.rotateSigningKey(at: start)
        let bytes = try home.scratch.bytes()
        #expect(try !bytes.contains(seed) && !home.holds(old) && home.holds(#require(try home.sealed())))
    }

    @Test func aFirstRotationDestroysNothing() throws {
        let home = try provider(.disk)
        let before = try home.store.provider().secrets
        try home.store.rotateSigningKey(stolen: true, anyway: true, at: start)
        #expect(try home.store.provider().secrets.first == before.first && before.count == 1)
    }

    /// The old key is overwritten by the transaction that makes the new certificate durable, so never before it.
    @Test func aRotationThatFailsChangesNothing() throws {
        let home = try provider(.disk)
        try home.store.rotateSigningKey(at: start)
        let (record, sealed) = (try home.store.providerKey(), try home.sealed())
        #expect(throws: KeyStoreError.self) {
            try home.store.write { (store) throws(KeyStoreError) in
                try store.changeProvider { (state) throws(KeyStoreError) in
                    try state.rotate(nil, Rotation(), at: start + 1)
                }
                throw KeyStoreError(.diskFull, "")
            }
        }
        #expect(try home.reopened().providerKey() == record)
        #expect(try home.sealed() == sealed)
        #expect(try home.store.signingCredential().credential?.certificate == record.certificate)
    }
}
