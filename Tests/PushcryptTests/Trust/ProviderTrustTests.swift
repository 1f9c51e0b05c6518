import Testing

@testable import Pushcrypt

/// The pins of an account. (`Docs/FormatTrust.md`, T-5; `Docs/FormatRecords.md`, D-43)
@Suite struct ProviderTrustTests {
    @Test func anAppBuildsInAPinWithItsCertificate() throws {
        let issuer = try Issuer()
        let (key, certificate) = (issuer.provider.publicKey, try issuer.certificate(5, floor: 5).certificate)
        let trust = try ProviderTrust(pinned: key, certificate: certificate, for: issuer.topic)
        #expect(trust.pins == [ProviderTrust.Pin(key, LearnedTrust(certificate))])
        let other = try FormatFixture.provider(102).publicKey
        let error = #expect(throws: TrustError.self) {
            try ProviderTrust(pinned: other, certificate: certificate, for: issuer.topic)
        }
        #expect(error?.code == .badSignature)
    }

    @Test func aThirdPinTraps() async {
        await #expect(processExitsWith: .failure) {
            _ = ProviderTrust(pinned: try (101...103).map { try FormatFixture.provider($0).publicKey })
        }
    }
}
