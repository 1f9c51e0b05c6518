import Testing

@testable import Pushcrypt

/// The pins of an account. (`Docs/FormatTrust.md`, T-5; `Docs/FormatRecords.md`, D-43)
@Suite struct ProviderTrustTests {
    private let topic: Topic
    private let issuers: [Issuer]

    init() throws {
        let topic = try FormatFixture.app
        self.topic = topic
        issuers = try [101, 102, 103].map { Issuer(try FormatFixture.provider($0), topic) }
    }

    private func keys(_ count: Int) -> [ProviderPublicKey] { issuers.prefix(count).map(\.provider.publicKey) }

    @Test func aCertificateIsLearntForThePinThatVerifiesIt() throws {
        var trust = ProviderTrust(pinned: keys(2))
        let certificate = try issuers[1].certificate(5, floor: 2).certificate
        #expect(try trust.accept(certificate, for: topic) == .raised)
        #expect(trust.pins.map(\.learned) == [LearnedTrust(), LearnedTrust(certificate)])
        #expect(try trust.accept(certificate, for: topic) == .unchanged)
        #expect(try trust.accept(issuers[1].certificate(5, floor: 3).certificate, for: topic) == .conflict)
        #expect(trust.pinned == keys(2))
    }

    @Test func aCertificateOfNoPinChangesNothing() throws {
        var trust = ProviderTrust(pinned: keys(2))
        let before = trust
        let certificate = try issuers[0].certificate(5).certificate
        var forged = certificate.bytes
        forged[60] ^= 1
        let another = try Topic("com.example.other")
        for (certificate, topic) in [
            (try issuers[2].certificate(5).certificate, topic), (certificate, another),
            (Certificate(checked: forged), topic),
        ] {
            let error = #expect(throws: TrustError.self) { _ = try trust.accept(certificate, for: topic) }
            #expect(error?.code == .badSignature)
        }
        var none = ProviderTrust(pinned: [])
        #expect(throws: TrustError.self) { _ = try none.accept(certificate, for: topic) }
        #expect(trust == before && none.pins.isEmpty)
    }

    /// A key that is pinned here may be the signing key of another provider, and never its own.
    @Test func aCertificateAboutAPinIsWeakForThatPin() throws {
        let key = SigningPublicKey(checked: issuers[0].provider.publicKey.bytes)
        let plan = CertificatePlan(epoch: 5, floor: 5, graceUntil: nil, expiresAt: nil)
        let certificate = try UnsignedCertificate(plan, for: key, provider: keys(2)[1], topic: topic)
            .signed(by: issuers[1].provider)
        var trust = ProviderTrust(pinned: keys(1))
        let error = #expect(throws: TrustError.self) { _ = try trust.accept(certificate, for: topic) }
        #expect(error?.code == .weakKey)
        var both = ProviderTrust(pinned: keys(2))
        #expect(try both.accept(certificate, for: topic) == .raised)
    }

    @Test func anAppBuildsInAPinWithItsCertificate() throws {
        let certificate = try issuers[0].certificate(5, floor: 5).certificate
        let trust = try ProviderTrust(pinned: keys(1)[0], certificate: certificate, for: topic)
        #expect(trust.pins == [ProviderTrust.Pin(keys(1)[0], LearnedTrust(certificate))])
        let error = #expect(throws: TrustError.self) {
            try ProviderTrust(pinned: keys(2)[1], certificate: certificate, for: topic)
        }
        #expect(error?.code == .badSignature)
    }

    @Test func aThirdPinTraps() async {
        await #expect(processExitsWith: .failure) {
            _ = ProviderTrust(pinned: try (101...103).map { try FormatFixture.provider($0).publicKey })
        }
    }
}
