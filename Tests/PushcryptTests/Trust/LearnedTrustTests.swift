import Testing

@testable import Pushcrypt

/// The phone's knowledge of a provider, and the messages that open with it. (`Docs/FormatTrust.md`, T-3 to T-6)
@Suite struct LearnedTrustTests {
    private static let now = FormatFixture.now

    private let issuer: Issuer

    init() throws { issuer = try Issuer() }

    /// Certificates of one machine, of two, and of a restored store: equal epochs, floors that fall, twice the same claim.
    private func certificates() throws -> [Certificate] {
        var all = try [(1, 0), (2, 0), (2, 2), (3, 1), (3, 3), (4, 2)].map { (epoch, floor) in
            try issuer.certificate(UInt32(epoch), floor: UInt32(floor)).certificate
        }
        all.append(try issuer.certificate(3, floor: 1, key: 99).certificate)
        // Another signature of the first claim with epoch 2; nobody verifies it here.
        var bytes = all[1].bytes
        bytes[120] ^= 1
        all.append(Certificate(checked: bytes))
        return all
    }

    /// Every state that certificates and floors lead to.
    private func states() throws -> [LearnedTrust] {
        let certificates = try certificates()
        var states: Set<LearnedTrust> = [LearnedTrust()]
        for certificate in certificates {
            for floor in UInt32(0)...5 { states.insert(LearnedTrust(certificate, floor: floor)) }
        }
        for floor in UInt32(1)...5 { states.insert(LearnedTrust(nil, floor: floor)) }
        return Array(states)
    }

    private func merged(_ a: LearnedTrust, _ b: LearnedTrust) -> LearnedTrust {
        var merged = a
        merged.merge(b)
        return merged
    }

    @Test func mergingIsTheMaximumInAnyOrder() throws {
        let states = try states()
        #expect(states.count > 30)
        for a in states {
            #expect(merged(a, a) == a)
            #expect(merged(a, LearnedTrust()) == a)
            for b in states {
                let both = merged(a, b)
                try #require(both == merged(b, a))
                #expect(both.floor == max(a.floor, b.floor))
                #expect(merged(both, a) == both && merged(both, b) == both)
                let isAssociative = states.allSatisfy { merged(both, $0) == merged(a, merged(b, $0)) }
                try #require(isAssociative)
            }
        }
    }

    /// In any order, any number of times: the state is the same.
    @Test func theOrderOfLearningDecidesNothing() throws {
        let certificates = try certificates()
        func learned(_ order: [Certificate]) -> LearnedTrust { order.reduce(LearnedTrust()) { $0.learning($1).0 } }
        for a in certificates {
            for b in certificates {
                for c in certificates {
                    let one = learned([a, b, c])
                    let others = [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a], [a, b, c, b, a]].map(learned)
                    try #require(others.allSatisfy { $0 == one })
                    #expect(one.certificate == max(a, b, c) && one.floor == max(a.floor, b.floor, c.floor))
                }
            }
        }
    }

    @Test func aFloorIsNeverBelowThatOfTheCertificate() throws {
        let certificate = try issuer.certificate(9, floor: 4).certificate
        #expect(LearnedTrust(certificate).floor == 4)
        #expect(LearnedTrust(certificate, floor: 3).floor == 4)
        #expect(LearnedTrust(certificate, floor: 7).floor == 7)
    }

    @Test func theAppIsToldWhatACertificateChanges() throws {
        func issued(_ epoch: UInt32, _ floor: UInt32, key: UInt8 = 1) throws -> Certificate {
            try issuer.certificate(epoch, floor: floor, key: key).certificate
        }
        let five = try issued(5, 3)
        let known = LearnedTrust(five)
        #expect(LearnedTrust().learning(five) == (known, .raised))
        #expect(known.learning(five) == (known, .unchanged))
        #expect(known.learning(try issued(4, 3)) == (known, .unchanged))
        #expect(known.learning(try issued(6, 3)).1 == .raised)
        // An older one that ends more.
        #expect(known.learning(try issued(4, 4)) == (LearnedTrust(five, floor: 4), .raised))
        // Another claim of the epoch: the higher one is kept, and both are told.
        for other in [try issued(5, 3, key: 2), try issued(5, 2), try issued(5, 5)] {
            let (after, change) = known.learning(other)
            #expect(change == .conflict && after.certificate == max(five, other))
            #expect(after.floor == max(3, other.floor))
        }
        // Another signature of the claim.
        var bytes = five.bytes
        bytes[57] ^= 1
        let again = Certificate(checked: bytes)
        #expect(known.learning(again) == (LearnedTrust(max(five, again)), .unchanged))
        #expect(LearnedTrust(again).learning(five) == (LearnedTrust(max(five, again)), .unchanged))
    }

    // MARK: T-4

    private func admits(
        _ learned: LearnedTrust, _ epoch: UInt32, _ certificate: Certificate? = nil, sentAt: Timestamp = now,
        at now: Timestamp = now
    ) -> Bool {
        learned.admits(epoch: epoch, under: certificate, sentAt: sentAt, at: now)
    }

    @Test func withoutACertificateOnlyEpoch0Opens() {
        #expect(admits(LearnedTrust(), 0) && !admits(LearnedTrust(), 1) && !admits(LearnedTrust(), .max))
        #expect(!admits(LearnedTrust(nil, floor: 1), 0))
    }

    @Test func epoch0EndsWithTheGraceOrTheFloor() throws {
        let grace = Self.now.adding(.days(38))
        let planned = LearnedTrust(try issuer.certificate(7, floor: 0, graceUntil: grace).certificate)
        #expect(admits(planned, 0) && admits(planned, 0, at: grace))
        #expect(!admits(planned, 0, at: grace.adding(milliseconds: 1)))
        #expect(!admits(LearnedTrust(planned.certificate, floor: 1), 0))
        #expect(!admits(LearnedTrust(try issuer.certificate(7, floor: 7).certificate), 0))
    }

    @Test func anEarlierEpochEndsWithTheGraceOfTheHighest() throws {
        let (grace, later) = (Self.now.adding(.days(1)), Self.now.adding(.days(50)))
        let old = try issuer.certificate(5, floor: 0, graceUntil: later).certificate
        let highest = LearnedTrust(try issuer.certificate(9, floor: 5, graceUntil: grace).certificate)
        #expect(admits(highest, 5, old) && admits(highest, 5, old, at: grace))
        // The grace of the old certificate is about those before it.
        #expect(!admits(highest, 5, old, at: grace.adding(milliseconds: 1)))
        #expect(admits(highest, 9, highest.certificate, at: later))
        #expect(!admits(highest, 4, try issuer.certificate(4).certificate))
        #expect(!admits(LearnedTrust(highest.certificate, floor: 6), 5, old))
        // A floor above the epoch of the highest certificate ends that one, too.
        #expect(!admits(LearnedTrust(highest.certificate, floor: 10), 9, highest.certificate))
        #expect(admits(LearnedTrust(highest.certificate, floor: 9), 9, highest.certificate))
    }

    @Test func anExpiryBindsWhatWasSentAndWhatStillOpens() throws {
        let end = Self.now.adding(.days(2))
        let certificate = try issuer.certificate(3, floor: 0, expiresAt: end).certificate
        let learned = LearnedTrust(certificate)
        let last = end.adding(.days(31))
        #expect(admits(learned, 3, certificate, sentAt: end, at: last))
        #expect(!admits(learned, 3, certificate, sentAt: end.adding(milliseconds: 1), at: end))
        #expect(!admits(learned, 3, certificate, sentAt: Self.now, at: last.adding(milliseconds: 1)))
        // In the grace of a later one as well.
        let later = try issuer.certificate(4, floor: 0, graceUntil: last.adding(.days(9))).certificate
        #expect(admits(LearnedTrust(later), 3, certificate, sentAt: end, at: last))
        #expect(!admits(LearnedTrust(later), 3, certificate, sentAt: end, at: last.adding(milliseconds: 1)))
        // The message's own certificate counts, not the highest.
        let short = try issuer.certificate(4, floor: 0, graceUntil: last.adding(.days(9)), expiresAt: Self.now)
            .certificate
        #expect(admits(LearnedTrust(short), 3, certificate, sentAt: end, at: last))
    }

    /// Times near 2^64 do not wrap around.
    @Test func endsDoNotWrapAround() throws {
        let almost = Timestamp(milliseconds: .max - 1)
        let certificate = try issuer.certificate(3, floor: 0, graceUntil: almost, expiresAt: almost).certificate
        let learned = LearnedTrust(certificate)
        #expect(certificate.expiresAt == almost)
        #expect(admits(learned, 3, certificate, sentAt: almost, at: Timestamp(milliseconds: .max)))
        #expect(admits(learned, 2, try issuer.certificate(2).certificate, at: almost))
        #expect(!admits(learned, 2, try issuer.certificate(2).certificate, at: Timestamp(milliseconds: .max)))
        let past = try issuer.certificate(3, floor: 0, expiresAt: Timestamp(milliseconds: 0)).certificate
        #expect(!admits(LearnedTrust(past), 3, past))
    }
}

private func == (
    a: (LearnedTrust, ProviderTrust.Change), b: (LearnedTrust, ProviderTrust.Change)
) -> Bool { a.0 == b.0 && a.1 == b.1 }
