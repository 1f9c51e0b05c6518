import FuzzHarness

@testable import Pushcrypt

/// The format's rules for rotation statements (`Docs/FormatRotation.md`), over the harness's knowledge of their signatures.
struct RotationModel {
    private(set) var pinned: [SenderPublicKey]
    private(set) var superseded: [(key: SenderPublicKey, statement: Bytes?)]

    /// The harness's knowledge of a statement.
    struct Facts {
        let old: SenderPublicKey
        let isSignedByOld: Bool
        let isSignedByNew: Bool
    }

    init(_ trust: SenderTrust) {
        pinned = trust.pinned
        superseded = trust.superseded.map { ($0.key, $0.statement?.bytes) }
    }

    /// Accepts a statement, or returns the code with which it is refused.
    mutating func take(_ bytes: Bytes, _ facts: Facts?, now: UInt64) -> RotationError.Code? {
        guard bytes.count == 181, bytes[0] == 1 else { return .malformedStatement }
        if let known = superseded.first(where: { $0.statement == bytes }), !pinned.contains(known.key) { return nil }
        let ids = (pinned + superseded.map(\.key)).filter { UInt64($0.id.value) == Self.number(bytes[1..<5]) }
        guard !ids.isEmpty else { return .untrustedKey }
        guard let facts, facts.isSignedByOld, ids.contains(facts.old) else { return .badSignature }
        let newKey = Bytes(bytes[5..<37])
        guard Ed25519Point.isUsable(newKey), let new = try? SenderPublicKey(bytes: newKey.span) else { return .weakKey }
        guard facts.isSignedByNew else { return .badSignature }
        guard pinned.contains(facts.old) else {
            return superseded.contains { $0.key == facts.old && $0.statement != nil } ? .conflict : .untrustedKey
        }
        if new == facts.old || superseded.contains(where: { $0.key == new }) { return .supersededKey }
        let issuedAt = Self.number(bytes[37..<45])
        if Self.number(bytes[49..<53]) > 60 * 86_400 { return .overlapTooLong }
        if issuedAt > now + 86_400_000 { return .notYetValid }
        // Not later than tomorrow, so this cannot wrap around.
        if now > issuedAt + 1000 * Self.number(bytes[45..<49]) { return .expired }
        pinned.removeAll { $0 == facts.old || $0 == new }
        pinned.append(new)
        superseded.append((facts.old, bytes))
        return nil
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
