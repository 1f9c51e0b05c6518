@testable import Pushcrypt

/// The format's rules for rotation and recovery statements (`Docs/FormatRotation.md`), over the harness's knowledge of their
/// signatures.
struct RotationModel: Equatable {
    private struct Superseded: Equatable {
        let key: Bytes
        /// The first 53 bytes of the statement that superseded the key; a revoked key has none.
        var claim: Bytes?
    }

    private struct Sender: Equatable {
        var pinned: Bytes?
        var superseded: [Superseded]
        let recoveryKeys: [Bytes]
        /// The first 53 bytes of the last recovery.
        var last: Bytes?

        var serial: UInt64 { last.map { number($0[49..<53]) } ?? 0 }
    }

    private var senders: [Sender]

    /// The harness's knowledge of a statement.
    struct Facts {
        /// The first byte of what was signed.
        let version: UInt8
        /// The key that has signed first, a sender's or a recovery key.
        let signer: Bytes
        let isSignedBySigner: Bool
        let isSignedByNew: Bool
    }

    init(_ trust: ProviderTrust) {
        senders = trust.senders.map { sender in
            Sender(
                pinned: sender.pinned?.bytes,
                superseded: sender.superseded.map {
                    Superseded(key: $0.key.bytes, claim: $0.statement.map { Bytes($0.bytes.prefix(53)) })
                },
                recoveryKeys: sender.recoveryKeys.map(\.bytes), last: sender.lastRecovery?.claim)
        }
    }

    /// The outcome of a statement for one sender: the furthest rule decides among several.
    private enum Outcome {
        case accepted(Sender)
        case unchanged
        case refused(Int, RotationError.Code)
    }

    /// Accepts a statement, or returns the code with which it is refused.
    mutating func take(_ bytes: Bytes, _ facts: Facts?, now: UInt64) -> RotationError.Code? {
        guard bytes.count == 181, bytes[0] == 1 || bytes[0] == 2 && number(bytes[49..<53]) > 0 else {
            return .malformedStatement
        }
        let facts = facts?.version == bytes[0] ? facts : nil
        let isRecovery = bytes[0] == 2
        let outcomes = senders.map { sender in
            isRecovery ? recovery(bytes, facts, for: sender) : rotation(bytes, facts, for: sender, now: now)
        }
        var isUnchanged = false
        var isAccepted = false
        var furthest: (rule: Int, code: RotationError.Code) =
            isRecovery ? (15, .unknownRecoveryKey) : (3, .untrustedKey)
        for (index, outcome) in outcomes.enumerated() {
            switch outcome {
            case .accepted(let sender):
                senders[index] = sender
                isAccepted = true
            case .unchanged: isUnchanged = true
            case .refused(let rule, let code):
                let rule = code == .conflict || code == .recoveryConflict ? 99 : rule
                if rule > furthest.rule { furthest = (rule, code) }
            }
        }
        if isAccepted { return nil }
        return isUnchanged && furthest.rule < 99 ? nil : furthest.code
    }

    private var revoked: [Bytes] { senders.flatMap(\.superseded).filter { $0.claim == nil }.map(\.key) }

    /// Whether no statement may pin a key.
    private func isUsed(_ key: Bytes, by sender: Sender) -> Bool {
        sender.superseded.contains { $0.key == key } || revoked.contains(key)
            || senders.contains { $0.recoveryKeys.contains(key) }
    }

    private func rotation(_ bytes: Bytes, _ facts: Facts?, for sender: Sender, now: UInt64) -> Outcome {
        let claim = Bytes(bytes.prefix(53))
        if sender.superseded.contains(where: { $0.claim == claim }) { return .unchanged }
        let keys = [sender.pinned].compactMap(\.self) + sender.superseded.map(\.key)
        let ids = keys.filter { id(of: $0, .ed25519) == number(bytes[1..<5]) }
        guard !ids.isEmpty else { return .refused(3, .untrustedKey) }
        guard let facts, facts.isSignedBySigner, ids.contains(facts.signer) else { return .refused(4, .badSignature) }
        let new = Bytes(bytes[5..<37])
        guard Ed25519Point.isUsable(new) else { return .refused(5, .weakKey) }
        guard facts.isSignedByNew else { return .refused(6, .badSignature) }
        if revoked.contains(facts.signer) { return .refused(7, .untrustedKey) }
        guard sender.pinned == facts.signer else { return .refused(7, .conflict) }
        if new == facts.signer || isUsed(new, by: sender) { return .refused(8, .supersededKey) }
        let issuedAt = number(bytes[37..<45])
        if number(bytes[49..<53]) > 60 * 86_400 { return .refused(9, .overlapTooLong) }
        if issuedAt > now + 86_400_000 { return .refused(10, .notYetValid) }
        // Not later than tomorrow, so this cannot wrap around.
        if now > issuedAt + 1000 * number(bytes[45..<49]) { return .refused(11, .expired) }
        var changed = sender
        changed.pinned = new
        changed.superseded.append(Superseded(key: facts.signer, claim: claim))
        return .accepted(changed)
    }

    private func recovery(_ bytes: Bytes, _ facts: Facts?, for sender: Sender) -> Outcome {
        let claim = Bytes(bytes.prefix(53))
        let ids = sender.recoveryKeys.filter { id(of: $0, .recovery) == number(bytes[1..<5]) }
        guard let pinned = sender.pinned, !ids.isEmpty else { return .refused(15, .unknownRecoveryKey) }
        guard let facts, facts.isSignedBySigner, ids.contains(facts.signer) else { return .refused(16, .badSignature) }
        let new = Bytes(bytes[5..<37])
        guard Ed25519Point.isUsable(new) else { return .refused(17, .weakKey) }
        guard facts.isSignedByNew else { return .refused(18, .badSignature) }
        let serial = number(bytes[49..<53])
        if serial < sender.serial || claim == sender.last { return .unchanged }
        if serial == sender.serial { return .refused(19, .recoveryConflict) }
        if isUsed(new, by: sender) { return .refused(20, .supersededKey) }
        var changed = sender
        changed.superseded = (sender.superseded.map(\.key) + (pinned == new ? [] : [pinned])).map {
            Superseded(key: $0)
        }
        changed.pinned = new
        changed.last = claim
        return .accepted(changed)
    }
}

private func id(of key: Bytes, _ type: KeyID.KeyType) -> UInt64 { UInt64(KeyID(of: key.span, type: type).value) }

private func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
