import Testing

@testable import Pushcrypt

/// The content of the next certificate, beside the kit's `plans`. (`Docs/FormatTrust.md`, T-7 to T-9)
@Suite struct CertificatePlanTests {
    private static let now = FormatFixture.now

    private let issuer: Issuer

    init() throws { issuer = try Issuer() }

    @Test func aKeyThatStaysOfflineSignsNoMessage() throws {
        let plan = try CertificatePlan(offlineAt: Self.now, expires: .days(90))
        #expect(
            plan.epoch == UInt32(Self.now.milliseconds / 1000) && plan.floor == plan.epoch && plan.graceUntil == nil)
        #expect(plan.expiresAt == Self.now.adding(.days(90)))
    }

    @Test func aLifeThatIsTooLongNeverEnds() throws {
        let plan = try CertificatePlan(
            after: nil, past: [], proven: nil, at: Self.now, .planned, expires: .seconds(.max))
        #expect(plan.expiresAt == Timestamp(milliseconds: .max))
        let unsigned = try UnsignedCertificate(
            plan, for: SigningKey().publicKey, provider: issuer.provider.publicKey, topic: issuer.topic)
        #expect(try unsigned.signed(by: issuer.provider).expiresAt == nil)
    }
}
