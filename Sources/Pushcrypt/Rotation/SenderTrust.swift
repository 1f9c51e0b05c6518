/// Whom a device believes: the pinned sender keys, and those that a statement has superseded.
///
/// A pure value. A key is pinned by the app, an import, or an accepted statement; never by a message, never on first use.
/// (`Docs/Format.md`, Rotation)
public struct SenderTrust: Hashable, Sendable {
    /// A key whose place another has taken; it never takes its place back.
    public struct Superseded: Hashable, Sendable {
        /// The key that was superseded.
        public let key: SenderPublicKey
        /// The last moment at which it still verifies messages; nil when the app replaced it and nothing of it is believed.
        public let verifiesUntil: Timestamp?
        /// The statement that superseded it; nil when the app replaced it.
        public let statement: RotationStatement?

        /// Takes a key's record from a store.
        public init(key: SenderPublicKey, verifiesUntil: Timestamp?, statement: RotationStatement?) {
            self.key = key
            self.verifiesUntil = verifiesUntil
            self.statement = statement
        }
    }

    /// What an accepted statement does.
    public enum Change: Hashable, Sendable {
        /// The same bytes were accepted before.
        case unchanged
        /// The second key takes the pin of the first.
        case rotated(from: SenderPublicKey, to: SenderPublicKey)
    }

    /// The most keys that share one id and are tried.
    static let maximumPerID = 4

    /// The keys that are believed without an end.
    public private(set) var pinned: [SenderPublicKey]
    /// The keys that were superseded here, oldest first.
    public private(set) var superseded: [Superseded]

    /// Takes the keys that a store or an app holds.
    public init(pinned: [SenderPublicKey] = [], superseded: [Superseded] = []) {
        self.pinned = pinned
        self.superseded = superseded
    }

    /// The keys with this id that verify a message now: pinned, or superseded and still inside the overlap.
    package func candidates(for id: KeyID, at now: Timestamp) -> [SenderPublicKey] {
        let overlapping = superseded.filter { $0.key.id == id && $0.verifiesUntil.map { now <= $0 } ?? false }
        return Array((pinned.filter { $0.id == id } + overlapping.map(\.key)).prefix(Self.maximumPerID))
    }

    /// Accepts a statement, or throws and changes nothing.
    ///
    /// The caller keeps the result only when the message that carried the statement has passed every step.
    ///
    /// - Throws: every code of `RotationError` but `malformedStatement`.
    public mutating func accept(_ statement: RotationStatement, at now: Timestamp) throws(RotationError) -> Change {
        // The key may have been superseded under one name, and still be pinned under another of another app.
        if let before = superseded.first(where: { $0.statement == statement }), !pinned.contains(before.key) {
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
            // The app itself replaced this key, and whatever it says of its place is nothing new.
            guard superseded.contains(where: { $0.key == old && $0.statement != nil }) else {
                throw RotationError(.untrustedKey, "the statement's old key \(old.id) was replaced here by the app")
            }
            throw RotationError(
                .conflict,
                "key \(old.id) was superseded before and signs another statement: treat it as stolen, and give the devices the right key with 'sender trust --replace'"
            )
        }
        guard new != old, !superseded.contains(where: { $0.key == new }) else {
            throw RotationError(.supersededKey, "the statement's new key \(new.id) was superseded before")
        }
        guard statement.overlap <= RotationStatement.maximumOverlap else {
            throw RotationError(.overlapTooLong, "the statement keeps the old key for more than 60 days")
        }
        guard statement.issuedAt <= now.adding(milliseconds: Freshness.clockTolerance) else {
            throw RotationError(.notYetValid, "the statement was issued more than a day from now; check the clock")
        }
        guard now <= statement.issuedAt.adding(seconds: UInt64(statement.acceptFor)) else {
            throw RotationError(.expired, "the statement is no longer accepted; pin the new key by hand")
        }
        pinned.removeAll { $0 == old || $0 == new }
        pinned.append(new)
        superseded.append(Superseded(key: old, verifiesUntil: statement.overlapEnd, statement: statement))
        return .rotated(from: old, to: new)
    }
}
