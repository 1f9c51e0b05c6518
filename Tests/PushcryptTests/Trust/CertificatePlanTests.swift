import Seed
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

    // MARK: The model

    /// A provider of the trust model, in days: its certificate, and when which epoch was replaced.
    private struct Model {
        var epoch: UInt32 = 0
        var floor: UInt32 = 0
        var past: [(epoch: UInt32, day: UInt64)] = []

        /// The rules of `trust_model.py`: SLIM, with numbers that are never used twice.
        mutating func rotate(day: UInt64, isStolen: Bool, proven: UInt32) -> (
            epoch: UInt32, floor: UInt32, grace: UInt64
        ) {
            let isStale = proven > 0
            let next = max(max(epoch, proven) + 1, UInt32(day * 86_400))
            var lowest = epoch
            for (old, replaced) in past where replaced + 38 >= day { lowest = min(lowest, old) }
            let floor = isStolen || isStale ? next : max(floor, lowest)
            past.append((epoch, day))
            (epoch, self.floor) = (next, floor)
            return (next, floor, floor == next ? 0 : day + 38)
        }
    }

    /// Histories of planned rotations, thefts and records of another store, some on one day: the same as the model.
    @Test func plansAreTheModels() throws {
        var random = Seed(7)
        for _ in 0..<60 {
            var (model, current, past) = (Model(), Certificate?.none, [CertificatePlan.PastEpoch]())
            var day: UInt64 = 20_000
            for _ in 0..<12 {
                day += [0, 1, 3, 29, 38, 39, 100][Int(random.next() % 7)]
                let now = Timestamp(milliseconds: day * 86_400_000)
                let isStolen = random.next() % 4 == 0
                let above = random.next() % 5 == 0 ? UInt32(random.next() % 1000) + 1 : 0
                let proven =
                    above > 0
                    ? try issuer.certificate(max(model.epoch, UInt32(day * 86_400)) + above - 500).certificate : nil
                let plan = try CertificatePlan(
                    after: current, past: past, proven: proven, at: now, isStolen ? .stolen : .planned)
                let expected = model.rotate(day: day, isStolen: isStolen, proven: proven?.epoch ?? 0)
                #expect((plan.epoch, plan.floor) == (expected.epoch, expected.floor))
                #expect((plan.graceUntil?.milliseconds ?? 0) == expected.grace * 86_400_000)
                past.append(CertificatePlan.PastEpoch(current, replacedAt: now))
                let unsigned = try UnsignedCertificate(
                    plan, for: SigningKey().publicKey, provider: issuer.provider.publicKey, topic: issuer.topic)
                let next = try unsigned.signed(by: issuer.provider)
                // Epochs only grow, floors never fall, and each certificate has the form of one.
                #expect(next.epoch > current?.epoch ?? 0 && next.floor >= current?.floor ?? 0)
                #expect(try Certificate(text: next.description) == next)
                current = next
            }
        }
    }
}
