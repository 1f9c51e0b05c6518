/// The sender keys that a device trusts: the pinned ones, and superseded ones for a limited time.
///
/// A pure value. Keys are pinned by the app, by an import, or by an accepted statement, but never by a message and
/// never on first use. (`Docs/FormatRotation.md`)
public struct SenderTrust: Hashable, Sendable {
    /// A key that was replaced by another; it is never pinned again.
    public struct Superseded: Hashable, Sendable {
        /// The key.
        public let key: SenderPublicKey
        /// The last moment at which it verifies messages; nil if the app replaced it, so that it is not trusted at all.
        public let verifiesUntil: Timestamp?
        /// The statement that superseded it; nil if the app replaced it.
        public let statement: RotationStatement?

        /// Creates a value from stored parts.
        public init(key: SenderPublicKey, verifiesUntil: Timestamp?, statement: RotationStatement?) {
            self.key = key
            self.verifiesUntil = verifiesUntil
            self.statement = statement
        }
    }

    /// The effect of an accepted statement.
    public enum Change: Hashable, Sendable {
        /// None: the same statement was accepted before.
        case unchanged
        /// The second key is pinned instead of the first.
        case rotated(from: SenderPublicKey, to: SenderPublicKey)
    }

    /// The maximum number of keys with the same id that are tried.
    static let maximumPerID = 4

    /// The keys that are trusted without a time limit.
    public private(set) var pinned: [SenderPublicKey]
    /// The keys that were superseded here, oldest first.
    public private(set) var superseded: [Superseded]

    /// Creates a value from the keys of a store or an app.
    public init(pinned: [SenderPublicKey] = [], superseded: [Superseded] = []) {
        self.pinned = pinned
        self.superseded = superseded
    }

    /// Returns the keys with this id that verify messages now: pinned, or superseded and still in the overlap.
    package func candidates(for id: KeyID, at now: Timestamp) -> [SenderPublicKey] {
        let overlapping = superseded.filter { $0.key.id == id && $0.verifiesUntil.map { now <= $0 } ?? false }
        return Array((pinned.filter { $0.id == id } + overlapping.map(\.key)).prefix(Self.maximumPerID))
    }

    /// Accepts a statement, or throws without a change.
    ///
    /// The caller stores the result only after the message with the statement has passed all checks.
    ///
    /// - Throws: `RotationError`, with any code except `malformedStatement`.
    public mutating func accept(_ statement: RotationStatement, at now: Timestamp) throws(RotationError) -> Change {
        // The key may be superseded under one name, and still be pinned under another name for another app.
        if let before = superseded.first(where: { $0.statement?.claim == statement.claim }), !pinned.contains(before.key) {
            return .unchanged
        }
        let known = (pinned + superseded.map(\.key)).filter { $0.id == statement.oldKeyID }
        guard !known.isEmpty else {
            throw RotationError(.untrustedKey, "the statement's old key \(statement.oldKeyID) is not pinned here")
        }
        guard let old = known.prefix(Self.maximumPerID).first(where: statement.isSigned(byOld:)) else {
            throw RotationError(.badSignature, "the old key did not sign the statement")
        }
        let new = try statement.newKey(after: old)
        guard pinned.contains(old) else {
            // The app replaced this key, so a statement about its replacement is no evidence of a theft.
            guard superseded.contains(where: { $0.key == old && $0.statement != nil }) else {
                throw RotationError(.untrustedKey, "the statement's old key \(old.id) was replaced here by the app")
            }
            throw RotationError(
                .conflict,
                "key \(old.id) was superseded before and has signed another statement: treat it as stolen, and give the devices the right key through the app"
            )
        }
        guard new != old, !superseded.contains(where: { $0.key == new }) else {
            throw RotationError(.supersededKey, "the statement's new key \(new.id) was superseded before")
        }
        guard statement.overlap <= RotationStatement.maximumOverlap else {
            throw RotationError(.overlapTooLong, "the statement keeps the old key for more than 60 days")
        }
        guard statement.issuedAt <= now.adding(Freshness.clockTolerance) else {
            throw RotationError(.notYetValid, "the statement was issued more than a day in the future; check the clock")
        }
        guard now <= statement.issuedAt.adding(statement.acceptFor) else {
            throw RotationError(.expired, "the statement has expired; pin the new key directly")
        }
        pinned.removeAll { $0 == old || $0 == new }
        pinned.append(new)
        superseded.append(Superseded(key: old, verifiesUntil: statement.overlapEnd, statement: statement))
        return .rotated(from: old, to: new)
    }
}
