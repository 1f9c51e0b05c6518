import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// An old copy of a store learns from phones that it is one, and heals by one rotation.
struct StaleStoreTests {
    private static let day: UInt64 = 86_400

    private func registration(
        _ certificate: Certificate?, of provider: ProviderPublicKey?, number: Int = 0
    ) -> DeviceRegistration {
        DeviceRegistration(
            publicKey: .numbered(number), createdAt: start, pinnedProvider: provider, certificate: certificate)
    }

    /// A provider whose store was copied, and then rotated once a day.
    private struct Scene {
        let home: Home
        let copy: SQLiteKeyStore
        let provider: ProviderPublicKey
        var lost: [Certificate] = []

        /// - Parameter rotations: How often the store rotates before it is copied, and afterwards.
        init(_ rotations: (before: Int, after: Int)) throws {
            home = try Home()
            provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
            for _ in 0..<rotations.before { try home.store.rotateSigningKey(at: start) }
            let scratch = home.scratch
            try home.store.backUp(to: scratch.path + "/backup", key: scratch.path + "/key")
            _ = try SQLiteKeyStore.restore(
                scratch.path + "/backup", to: scratch.path + "/copy", key: scratch.path + "/key", passphrase: nil,
                replace: false, options: .quick, at: start)
            copy = try .open(in: scratch.path + "/copy", passphrase: nil, options: .quick)
            for number in 0..<UInt64(rotations.after) {
                let record = try home.store.rotateSigningKey(at: start + (number + 1) * StaleStoreTests.day)
                lost.append(try #require(record.certificate))
            }
        }
    }

    @Test(arguments: [(0, 1), (0, 3), (1, 1), (2, 3)])
    func aStoreRestoredFromAnyMomentHeals(_ before: Int, _ after: Int) throws {
        let scene = try Scene((before, after))
        let (copy, last) = (scene.copy, try #require(scene.lost.last))
        #expect(try copy.providerKey().warning == nil)
        let now = start + 4 * Self.day
        let record = registration(last, of: scene.provider)
        #expect(try copy.addDevice(record, id: "phone", at: now) == .added)
        #expect(try copy.device(id: "phone")?.epoch == last.epoch)
        let stale = try copy.providerKey()
        #expect(stale.warning?.code == .staleStore && stale.provenCertificate == last)
        #expect(stale.warning?.description.contains("epoch \(last.epoch)") == true)
        // Sealing goes on.
        #expect(try copy.signer().epoch == stale.epoch)

        let healed = try copy.rotateSigningKey(at: now)
        let certificate = try #require(healed.certificate)
        #expect(certificate.epoch > last.epoch && certificate.floor == certificate.epoch && healed.warning == nil)
        var phone = try ProviderTrust(pinned: scene.provider, certificate: last, for: .app)
        #expect(try phone.accept(certificate, for: .app) == .raised)
        #expect(phone.pins[0].learned.certificate == certificate && phone.pins[0].learned.floor == certificate.epoch)
        // The lost certificates have ended, and may be reported.
        for (number, lost) in scene.lost.enumerated() {
            try copy.addDevice(registration(lost, of: scene.provider, number: number + 1), id: "\(number)", at: now)
        }
        #expect(try copy.providerKey().warning == nil)
        #expect(copy.check().allSatisfy { $0.severity == .note })
    }

    @Test func aForgedCertificateIsIgnored() throws {
        let store = try Home(.memory).store
        let record = try store.generateProviderKey(topic: .app, at: start)
        let (thief, other) = (ProviderKey(), try store.providerSecret())
        let plan = CertificatePlan(epoch: .max, floor: .max, graceUntil: nil, expiresAt: nil)
        func signed(by key: ProviderKey, _ topic: Topic) throws -> Certificate {
            try UnsignedCertificate(plan, for: SigningKey().publicKey, provider: key.publicKey, topic: topic).signed(
                by: key)
        }
        var bytes = try signed(by: other, .app).bytes
        bytes[70] ^= 1
        let forged = [
            try signed(by: thief, .app), try signed(by: other, .other), Certificate(checked: bytes),
        ]
        for (number, certificate) in forged.enumerated() {
            let id = "\(number)"
            let registration = registration(certificate, of: record.publicKey, number: number)
            #expect(try store.addDevice(registration, id: id, at: start) == .added, "nothing else fails")
            #expect(try store.device(id: id)?.epoch == nil)
        }
        // One of a key that this store does not have says nothing.
        let foreign = registration(try signed(by: thief, .app), of: thief.publicKey, number: 9)
        #expect(try store.addDevice(foreign, id: "foreign", at: start) == .added)
        #expect(try store.device(id: "foreign")?.epoch == nil)
        #expect(try store.providerKey() == record)
        #expect(try store.rotateSigningKey(at: start).epoch == UInt32(start.milliseconds / 1000))
    }

    /// No matter which device is first to report it, a certificate counts only for the key that signed it.
    @Test func aCertificateOfAnotherKeyOfTheStoreIsIgnored() throws {
        let store = try Home(.memory).store
        let key = ProviderKey()
        _ = try store.importProviderKey(key, named: "first", topic: .app, at: start)
        let second = try store.generateProviderKey(named: "second", topic: .app, at: start).publicKey
        let certificate = try UnsignedCertificate(
            CertificatePlan(after: nil, at: start), for: SigningKey().publicKey, provider: key.publicKey, topic: .app
        ).signed(by: key)
        let records = [key.publicKey, second, nil].enumerated().map { number, pinned in
            (
                "\(number)", registration(certificate, of: pinned, number: number), nil as SignedRecord?,
                DeviceOwner.unchanged
            )
        }
        #expect(try store.addDevices(records, at: start).allSatisfy { $0 == nil })
        let epochs = try records.map { try store.device(id: $0.0)?.epoch }
        #expect(epochs == [certificate.epoch, nil, certificate.epoch])
    }

    @Test func aCertificateThatIsInstalledLateProvesNothingAnyMore() throws {
        let key = ProviderKey()
        let store = try Home(.memory).store
        _ = try store.addOfflineProviderKey(key, topic: .app, at: start)
        let signed = try store.requestCertificate(at: start).request.certify(by: key, at: start + 1)
        // Another server has it already, and a phone from there registers here.
        try store.addDevice(registration(signed.certificate, of: key.publicKey), id: "phone", at: start + 2)
        #expect(try store.providerKey().warning?.code == .staleStore)
        #expect(try store.installCertificate(signed, at: start + 3).warning == nil)
        try store.addDevice(registration(signed.certificate, of: key.publicKey, number: 1), id: "other", at: start + 3)
        #expect(try store.providerKey().warning == nil)
        let next = try store.requestCertificate(at: start + 4).request
        #expect(next.proven == nil)
        #expect(try next.plan(at: start + 4).floor < signed.certificate.epoch)
    }

    @Test(arguments: [false, true])
    func importsProveToo(_ replace: Bool) throws {
        let scene = try Scene((1, 2))
        // The lower one comes first and last.
        let changes = (0..<11).map { number in
            DeviceChange.registered(
                id: "\(10 + number)", registration(scene.lost[number % 2], of: scene.provider, number: number))
        }
        let result = try scene.copy.importDevices(changes, replace: replace, at: start + 4 * Self.day)
        #expect(result.added == 11)
        #expect(try scene.copy.providerKey().provenCertificate == scene.lost[1])
        #expect(try scene.copy.device(id: "14")?.epoch == scene.lost[0].epoch)
        // A refused registration changes nothing.
        let fresh = try Scene((0, 1))
        let refused = DeviceChange.registered(
            id: "x",
            DeviceRegistration(
                publicKey: .numbered(1), generation: 5000, createdAt: start, pinnedProvider: fresh.provider,
                certificate: fresh.lost[0]))
        #expect(try fresh.copy.importDevices([refused], at: start + 2 * Self.day).refused.count == 1)
        #expect(try fresh.copy.providerKey().warning == nil)
    }

    @Test func aDamagedProviderKeyStopsNoRegistration() throws {
        let scene = try Scene((1, 1))
        try SQLiteConnection(path: scene.home.scratch.path + "/copy/keystore.db", busyTimeout: 0)
            .execute("UPDATE states SET sealed = zeroblob(length(sealed)), revision = zeroblob(16)")
        let record = registration(scene.lost[0], of: scene.provider)
        #expect(try scene.copy.addDevice(record, id: "phone", at: start) == .added)
        #expect(try scene.copy.device(id: "phone")?.epoch == nil)
    }
}
