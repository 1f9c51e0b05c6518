import Testing

@testable import Pushcrypt

/// The merging of what a phone knows of a provider; the kit has the rules by case. (`Docs/FormatTrust.md`, T-6)
@Suite struct LearnedTrustTests {
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

    @Test func aFloorIsNeverBelowThatOfTheCertificate() throws {
        let certificate = try issuer.certificate(9, floor: 4).certificate
        #expect(LearnedTrust(certificate).floor == 4)
        #expect(LearnedTrust(certificate, floor: 3).floor == 4)
        #expect(LearnedTrust(certificate, floor: 7).floor == 7)
    }
}
