import Seed
import Testing

@testable import Pushcrypt

/// What the next certificate says. (`Docs/FormatTrust.md`, T-7 to T-9)
@Suite struct CertificatePlanTests {
    private typealias Past = CertificatePlan.PastEpoch

    private static let now = FormatFixture.now
    /// The present in seconds.
    private static let seconds = UInt32(now.milliseconds / 1000)

    private let issuer: Issuer

    init() throws { issuer = try Issuer() }

    private func certificate(_ epoch: UInt32, floor: UInt32 = 0) throws -> Certificate {
        try issuer.certificate(epoch, floor: floor).certificate
    }

    private func plan(
        after current: Certificate?, past: [CertificatePlan.PastEpoch] = [], proven: Certificate? = nil,
        at now: Timestamp = now, _ kind: CertificatePlan.Kind = .planned, expires: Interval? = nil
    ) throws -> CertificatePlan {
        try CertificatePlan(after: current, past: past, proven: proven, at: now, kind, expires: expires)
    }

    @Test func theFirstPlannedRotationKeepsEpoch0ForTheGrace() throws {
        let plan = try plan(after: nil)
        #expect(plan.epoch == Self.seconds && plan.floor == 0 && plan.expiresAt == nil)
        #expect(plan.graceUntil == Self.now.adding(.days(38)))
    }

    @Test func aKeyThatStaysOfflineSignsNoMessage() throws {
        let plan = try CertificatePlan(offlineAt: Self.now, expires: .days(90))
        #expect(plan.epoch == Self.seconds && plan.floor == plan.epoch && plan.graceUntil == nil)
        #expect(plan.expiresAt == Self.now.adding(.days(90)))
    }

    @Test func anEpochIsTheNextNumberOrTheTime() throws {
        #expect(try plan(after: certificate(5)).epoch == Self.seconds)
        #expect(try plan(after: certificate(Self.seconds - 1)).epoch == Self.seconds)
        #expect(try plan(after: certificate(Self.seconds)).epoch == Self.seconds + 1)
        #expect(try plan(after: certificate(Self.seconds + 86_399)).epoch == Self.seconds + 86_400)
    }

    @Test func afterAClockThatWasAheadEpochsCountOn() throws {
        let ahead = try certificate(Self.seconds + 390 * 86_400)
        for kind in [CertificatePlan.Kind.planned, .stolen] {
            #expect(try plan(after: ahead, kind).epoch == ahead.epoch + 1)
            #expect(try plan(after: nil, proven: ahead, kind).epoch == ahead.epoch + 1)
        }
        #expect(try plan(after: certificate(Self.seconds), at: Timestamp(milliseconds: 0)).epoch == Self.seconds + 1)
    }

    @Test func anErasedClockUsesUpNoEpochs() throws {
        let last = Timestamp(milliseconds: 4_102_444_800_999)
        #expect(try plan(after: certificate(7), at: last).epoch == 4_102_444_800)
        #expect(try plan(after: certificate(7), at: last.adding(milliseconds: 1)).epoch == 8)
        #expect(try plan(after: nil, at: Timestamp(milliseconds: .max)).epoch == 1)
    }

    @Test func afterTheLastEpochThereIsNone() throws {
        let last = try certificate(.max)
        #expect(try plan(after: certificate(.max - 1)).epoch == .max)
        for (current, proven) in [(last, nil), (nil, last)] as [(Certificate?, Certificate?)] {
            for kind in [CertificatePlan.Kind.planned, .stolen] {
                let error = #expect(throws: TrustError.self) { try plan(after: current, proven: proven, kind) }
                #expect(error?.code == .epochsExhausted)
            }
        }
    }

    @Test func theFloorIsTheLowestEpochOfTheLast38Days() throws {
        let current = try certificate(Self.seconds - 10, floor: 3)
        func floor(_ past: [(Certificate?, Interval)]) throws -> UInt32 {
            try plan(
                after: current,
                past: past.map { CertificatePlan.PastEpoch($0, replacedAt: Self.now.subtracting($1)) }
            ).floor
        }
        #expect(try floor([]) == current.epoch)
        #expect(try floor([(certificate(7), .days(38))]) == 7)
        #expect(try floor([(certificate(7), .seconds(38 * 86_400 + 1))]) == current.epoch)
        #expect(
            try floor([(certificate(7), .days(40)), (certificate(9), .days(20)), (certificate(11), .days(1))]) == 9)
        // Never below the floor before.
        #expect(try floor([(certificate(2), .days(1))]) == 3)
        #expect(try floor([(nil, .days(1))]) == 3)
        let first = try certificate(Self.seconds - 10)
        let afterFirst = try plan(
            after: first, past: [CertificatePlan.PastEpoch(nil, replacedAt: Self.now.subtracting(.days(1)))])
        #expect(afterFirst.floor == 0)
    }

    @Test func aTheftEndsEverythingBefore() throws {
        let recent = CertificatePlan.PastEpoch(try certificate(7), replacedAt: Self.now)
        let plan = try plan(after: certificate(9), past: [recent], .stolen, expires: .days(90))
        #expect(plan.floor == plan.epoch && plan.graceUntil == nil && plan.expiresAt == Self.now.adding(.days(90)))
    }

    @Test func aStaleStoreGoesAboveWhatWasProven() throws {
        let current = try certificate(Self.seconds - 100)
        for proven in [
            try certificate(Self.seconds + 50), try certificate(Self.seconds - 100, floor: 1),
            try certificate(Self.seconds - 101, floor: 1),
        ] {
            for current in [current, nil] {
                let plan = try plan(after: current, proven: proven)
                #expect(plan.epoch > proven.epoch && plan.epoch >= Self.seconds && plan.floor == plan.epoch)
                #expect(plan.graceUntil == nil)
            }
        }
        #expect(try plan(after: current, proven: current).graceUntil != nil, "its own")
    }

    @Test func aLifeThatIsTooLongNeverEnds() throws {
        #expect(try plan(after: nil, expires: .seconds(.max)).expiresAt == Timestamp(milliseconds: .max))
        let plan = try plan(after: nil, expires: .seconds(.max))
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
                let proven = above > 0 ? try certificate(max(model.epoch, UInt32(day * 86_400)) + above - 500) : nil
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
