/// The content of a provider key's next certificate, apart from the signing key. (`Docs/FormatTrust.md`, Rotation)
package struct CertificatePlan: Hashable, Sendable {
    /// Why the signing key is replaced.
    package enum Kind: Hashable, Sendable {
        /// On schedule: messages of the key before still open for a while.
        case planned
        /// The key before was stolen: its messages no longer open.
        case stolen
    }

    /// An epoch that a later one has replaced.
    package struct PastEpoch: Hashable, Sendable {
        /// Its certificate; nil for epoch 0, which has none.
        package let certificate: Certificate?
        /// When the provider replaced it.
        package let replacedAt: Timestamp

        /// The number.
        package var epoch: UInt32 { certificate?.epoch ?? 0 }

        package init(_ certificate: Certificate?, replacedAt: Timestamp) {
            self.certificate = certificate
            self.replacedAt = replacedAt
        }
    }

    package let epoch: UInt32
    package let floor: UInt32
    package let graceUntil: Timestamp?
    package let expiresAt: Timestamp?

    /// How long the epoch before may be found in a message: 30 days of life, a day for clocks, and 7 until every server
    /// has the new key.
    package static let grace = Interval.days(38)
    /// The end of the year 2099 in seconds. A clock after it is an erased one, which must not use up the epochs of a key.
    private static let latestClock: UInt64 = 4_102_444_800

    /// Creates a plan from its parts, for tests and for a certificate of another store.
    package init(epoch: UInt32, floor: UInt32, graceUntil: Timestamp?, expiresAt: Timestamp?) {
        self.epoch = epoch
        self.floor = floor
        self.graceUntil = graceUntil
        self.expiresAt = expiresAt
    }

    /// Plans the first certificate of a key that never signs messages itself: nothing of epoch 0 opens.
    package init(offlineAt now: Timestamp, expires: Interval? = nil) throws(TrustError) {
        try self.init(after: nil, at: now, .stolen, expires: expires)
    }

    /// Plans the next certificate. Its epoch is the last one + 1, or the seconds of the clock if they are more, so that a
    /// clock that was ahead stops no later rotation. ([T-7])
    ///
    /// - Parameters:
    ///   - current: The certificate in use; nil at epoch 0.
    ///   - past: The epochs that were replaced, at least those of the last 38 days.
    ///   - proven: A certificate that a phone has shown and this provider never issued.
    ///   - now: The present time.
    ///   - kind: Why.
    ///   - expires: The life of the certificate; nil for ever.
    /// - Throws: `epochsExhausted`.
    package init(
        after current: Certificate?, past: [PastEpoch] = [], proven: Certificate? = nil, at now: Timestamp,
        _ kind: Kind = .planned, expires: Interval? = nil
    ) throws(TrustError) {
        let last = current?.epoch ?? 0
        let seconds = now.milliseconds / 1000
        let clock = seconds <= Self.latestClock ? seconds : 0
        guard let epoch = UInt32(exactly: max(UInt64(max(last, proven?.epoch ?? 0)) + 1, clock)) else {
            throw TrustError(.epochsExhausted, "this provider key has used its last epoch: make another provider key")
        }
        self.epoch = epoch
        if kind == .stolen || proven.map({ $0.claim != current?.claim }) == true {
            floor = epoch
            graceUntil = nil
        } else {
            let recent = past.filter { now <= $0.replacedAt.adding(Self.grace) }.map(\.epoch)
            floor = max(current?.floor ?? 0, (recent + [last]).min() ?? last)
            graceUntil = now.adding(Self.grace)
        }
        expiresAt = expires.map(now.adding)
    }

}
