import FuzzHarness

@testable import Pushcrypt

/// The format's rules for rotation statements (`Docs/FormatRotation.md`), over the harness's knowledge of their signatures.
struct RotationModel {
    private struct Sender {
        var pinned: SenderPublicKey?
        /// With the first 53 bytes of the statement that superseded the key; a revoked key has none.
        var superseded: [(key: SenderPublicKey, claim: Bytes?)]
    }

    private var senders: [Sender]

    /// The harness's knowledge of a statement.
    struct Facts {
        let old: SenderPublicKey
        let isSignedByOld: Bool
        let isSignedByNew: Bool
    }

    init(_ trust: SenderTrust) {
        senders = trust.senders.map { sender in
            Sender(
                pinned: sender.pinned,
                superseded: sender.superseded.map { ($0.key, $0.statement.map { Bytes($0.bytes.prefix(53)) }) })
        }
    }

    /// The keys of each sender, the pinned one first.
    var keys: [[SenderPublicKey?]] { senders.map { [$0.pinned] + $0.superseded.map(\.key) } }

    /// The outcome of a statement for one sender: the furthest rule decides among several.
    private enum Outcome {
        case accepted(Sender)
        case unchanged
        case refused(Int, RotationError.Code)
    }

    /// Accepts a statement, or returns the code with which it is refused.
    mutating func take(_ bytes: Bytes, _ facts: Facts?, now: UInt64) -> RotationError.Code? {
        guard bytes.count == 181, bytes[0] == 1 || bytes[0] == 2 && Self.number(bytes[49..<53]) > 0 else {
            return .malformedStatement
        }
        // Nobody here has a recovery key.
        if bytes[0] == 2 { return .unknownRecoveryKey }
        let outcomes = senders.map { outcome(bytes, facts, for: $0, now: now) }
        var isUnchanged = false
        var isAccepted = false
        var furthest = (rule: 3, code: RotationError.Code.untrustedKey)
        for (index, outcome) in outcomes.enumerated() {
            switch outcome {
            case .accepted(let sender):
                senders[index] = sender
                isAccepted = true
            case .unchanged: isUnchanged = true
            case .refused(_, .conflict): furthest = (99, .conflict)
            case .refused(let rule, let code): if rule > furthest.rule { furthest = (rule, code) }
            }
        }
        if isAccepted { return nil }
        return isUnchanged && furthest.code != .conflict ? nil : furthest.code
    }

    private func outcome(_ bytes: Bytes, _ facts: Facts?, for sender: Sender, now: UInt64) -> Outcome {
        let claim = Bytes(bytes.prefix(53))
        if sender.superseded.contains(where: { $0.claim == claim }) { return .unchanged }
        let revoked = senders.flatMap(\.superseded).filter { $0.claim == nil }.map(\.key)
        let keys = [sender.pinned].compactMap(\.self) + sender.superseded.map(\.key)
        let ids = keys.filter { UInt64($0.id.value) == Self.number(bytes[1..<5]) }
        guard !ids.isEmpty else { return .refused(3, .untrustedKey) }
        guard let facts, facts.isSignedByOld, ids.contains(facts.old) else { return .refused(4, .badSignature) }
        let newKey = Bytes(bytes[5..<37])
        guard Ed25519Point.isUsable(newKey), let new = try? SenderPublicKey(bytes: newKey.span) else {
            return .refused(5, .weakKey)
        }
        guard facts.isSignedByNew else { return .refused(6, .badSignature) }
        if revoked.contains(facts.old) { return .refused(7, .untrustedKey) }
        guard sender.pinned == facts.old else { return .refused(7, .conflict) }
        if new == facts.old || sender.superseded.contains(where: { $0.key == new }) || revoked.contains(new) {
            return .refused(8, .supersededKey)
        }
        let issuedAt = Self.number(bytes[37..<45])
        if Self.number(bytes[49..<53]) > 60 * 86_400 { return .refused(9, .overlapTooLong) }
        if issuedAt > now + 86_400_000 { return .refused(10, .notYetValid) }
        // Not later than tomorrow, so this cannot wrap around.
        if now > issuedAt + 1000 * Self.number(bytes[45..<49]) { return .refused(11, .expired) }
        return .accepted(Sender(pinned: new, superseded: sender.superseded + [(facts.old, claim)]))
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
