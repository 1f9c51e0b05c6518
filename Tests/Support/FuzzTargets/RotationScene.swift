@testable import Pushcrypt

/// A device that has seen rotations and a recovery, and statements of every sort for it.
struct RotationScene {
    /// Pinned; superseded, and believed until tomorrow; superseded, and believed no more; replaced by the app; unknown, and four
    /// more that statements speak of.
    let senders = (1...8 as ClosedRange<UInt8>).map(KnownKeys.sender)
    let trust: ProviderTrust
    let statements: [RotationStatement]

    init() {
        let (now, day) = (KnownKeys.now.milliseconds, UInt64(86_400_000))
        func statement(
            _ old: ProviderKey, _ new: ProviderKey, at issuedAt: UInt64 = KnownKeys.now.milliseconds,
            acceptFor: UInt64 = 100_000, overlap: UInt64 = 86_400
        ) -> RotationStatement {
            KnownKeys.known { () throws(RotationError) in
                try RotationStatement(
                    from: old, to: new, at: Timestamp(milliseconds: issuedAt), acceptFor: .seconds(acceptFor),
                    overlap: .seconds(overlap))
            }
        }
        let (pinned, overlapping, ended, replaced, unknown) = (
            senders[0], senders[1], senders[2], senders[3], senders[4]
        )
        let accepted = statement(overlapping, pinned)
        func recovery(_ new: ProviderKey, _ serial: UInt32, by number: UInt8 = 9) -> RotationStatement {
            let key = KnownKeys.recovery(number)
            return KnownKeys.known { () throws(RotationError) in
                try RecoveryRequest(by: key.publicKey, for: KnownKeys.topic, to: new, serial: serial, at: KnownKeys.now)
                    .signed(by: key).statement
            }
        }
        let superseded = [
            ProviderTrust.Superseded(key: replaced.publicKey, verifiesUntil: nil, statement: nil),
            ProviderTrust.Superseded(
                key: ended.publicKey, verifiesUntil: Timestamp(milliseconds: now - day),
                statement: statement(ended, overlapping, at: now - 2 * day)),
            ProviderTrust.Superseded(
                key: overlapping.publicKey, verifiesUntil: Timestamp(milliseconds: now + day), statement: accepted),
        ]
        trust = ProviderTrust(
            [
                ProviderTrust.Sender(
                    pinned: pinned.publicKey, superseded: superseded, recoveryKeys: [KnownKeys.recovery(9).publicKey],
                    lastRecovery: ProviderTrust.LastRecovery(
                        serial: 1000, claim: Bytes(recovery(ended, 1000).bytes.prefix(53)),
                        by: KnownKeys.recovery(9).publicKey))
            ])
        statements = [
            statement(pinned, unknown), statement(unknown, senders[5]), accepted, statement(overlapping, senders[6]),
            statement(senders[6], senders[7]), statement(pinned, unknown, at: now - 200_000_000),
            statement(pinned, unknown, at: now + 2 * day), statement(pinned, overlapping),
            statement(replaced, senders[6]), statement(pinned, senders[6]), recovery(senders[5], 2000),
            recovery(senders[5], 500), recovery(senders[6], 1000), recovery(senders[6], 3000, by: 10),
        ]
    }
}
