/// A phone's knowledge of one provider key for one app: the highest certificate that it has accepted, and the
/// highest floor. (`Docs/FormatTrust.md`, T-3 to T-6)
///
/// It only grows, and merging takes the maximum of each part, so extension and app may write in any order.
package struct LearnedTrust: Hashable, Sendable {
    /// How long after its end a certificate still opens what was sent before: the longest life, and a day for clocks.
    package static let expiryTolerance = Interval.days(31)

    /// The highest certificate; nil if the phone knows none.
    package private(set) var certificate: Certificate?
    /// The lowest epoch whose messages open.
    package private(set) var floor: UInt32

    /// Creates a value from stored parts; the floor is never below that of the certificate.
    package init(_ certificate: Certificate? = nil, floor: UInt32 = 0) {
        self.certificate = certificate
        self.floor = max(floor, certificate?.floor ?? 0)
    }

    /// Takes over what another value knows.
    package mutating func merge(_ other: LearnedTrust) {
        if let theirs = other.certificate { certificate = certificate.map { max($0, theirs) } ?? theirs }
        floor = max(floor, other.floor)
    }

    /// Returns the state after a certificate, which the caller has verified, and what it changed. (T-3)
    package func learning(_ certificate: Certificate) -> (LearnedTrust, ProviderTrust.Change) {
        var after = self
        after.merge(LearnedTrust(certificate))
        if let known = self.certificate, known.conflicts(with: certificate) { return (after, .conflict) }
        let isRaised = after.floor != floor || after.certificate?.epoch != self.certificate?.epoch
        return (after, isRaised ? .raised : .unchanged)
    }

    /// Whether a message opens; this state has already learnt the message's certificate. (T-4)
    package func admits(epoch: UInt32, under certificate: Certificate?, sentAt: Timestamp, at now: Timestamp) -> Bool {
        guard epoch >= floor else { return false }
        if let end = certificate?.expiresAt {
            guard sentAt <= end, now <= end.adding(Self.expiryTolerance) else { return false }
        }
        guard let highest = self.certificate else { return epoch == 0 }
        return epoch == highest.epoch || highest.graceUntil.map { now <= $0 } == true
    }
}
