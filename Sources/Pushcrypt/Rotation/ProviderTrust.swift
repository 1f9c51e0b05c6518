/// The senders that a device trusts for one app: the trust for a context.
///
/// A pure value. Keys are pinned by the app, by an import, or by an accepted statement, but never by a message and
/// never on first use. (`Docs/FormatRotation.md`, Trust)
public struct ProviderTrust: Hashable, Sendable {
    /// One sender: a name that the app has given, with its keys.
    package struct Sender: Hashable, Sendable {
        /// The name of the sender in its store; empty if there is no store.
        package let name: String
        /// The key that is trusted without a time limit; nil if the app removed it.
        package internal(set) var pinned: ProviderPublicKey?
        /// The keys that were superseded or revoked, in the order in which they lost the pin.
        package internal(set) var superseded: [Superseded]
        /// The keys whose statements replace whatever is pinned; at most two.
        package let recoveryKeys: [RecoveryPublicKey]
        /// The last accepted recovery statement; nil if there was none.
        package internal(set) var lastRecovery: LastRecovery?

        /// Creates a value from the keys of a store or an app.
        package init(
            name: String = "", pinned: ProviderPublicKey?, superseded: [Superseded] = [],
            recoveryKeys: [RecoveryPublicKey] = [], lastRecovery: LastRecovery? = nil
        ) {
            self.name = name
            self.pinned = pinned
            self.superseded = superseded
            self.recoveryKeys = recoveryKeys
            self.lastRecovery = lastRecovery
        }
    }

    /// A key that lost its pin; it is never pinned again.
    package struct Superseded: Hashable, Sendable {
        package let key: ProviderPublicKey
        /// The last moment at which it verifies messages; nil if it is revoked, so that it verifies nothing.
        package let verifiesUntil: Timestamp?
        /// The statement that superseded it; nil if it is revoked.
        package let statement: RotationStatement?

        /// Creates a value from stored parts.
        package init(key: ProviderPublicKey, verifiesUntil: Timestamp?, statement: RotationStatement?) {
            self.key = key
            self.verifiesUntil = verifiesUntil
            self.statement = statement
        }

        package init(revoked key: ProviderPublicKey) {
            self.init(key: key, verifiesUntil: nil, statement: nil)
        }

        /// Whether the app or a recovery ended all trust in it.
        package var isRevoked: Bool { verifiesUntil == nil }
    }

    /// What is kept of the last accepted recovery statement of a sender.
    package struct LastRecovery: Hashable, Sendable {
        package static let claimLength = RotationStatement.claimLength

        /// The serial number.
        package let serial: UInt32
        /// The first 53 bytes.
        package let claim: ContiguousArray<UInt8>
        /// The key that signed it: the serial counts only while the sender has this key.
        public let recoveryKey: RecoveryPublicKey

        /// Creates a value from stored parts; returns nil if they are not those of a recovery statement.
        package init?(serial: UInt32, claim: ContiguousArray<UInt8>, by recoveryKey: RecoveryPublicKey) {
            guard serial > 0, claim.count == RotationStatement.claimLength else { return nil }
            self.serial = serial
            self.claim = claim
            self.recoveryKey = recoveryKey
        }

        /// The first 53 bytes as base64url, for a caller that stores text.
        package var text: String { Base64URL.string(claim.span) }

        /// Returns the claim that `text` was written from; nil if it is not that of a recovery statement.
        package static func claim(ofText text: some Collection<UInt8>) -> ContiguousArray<UInt8>? {
            let text = ContiguousArray(text)
            guard let claim = Base64URL.decode(text.span), claim.count == claimLength,
                claim[0] == RotationStatement.recoveryVersion,
                claim.span.bigEndian(at: RotationStatement.serial) > 0 as UInt32
            else { return nil }
            return claim
        }

        /// Creates a value from a claim, which only names the id of the key that signed it; returns nil if none of the
        /// sender's recovery keys has it.
        package init?(claim: ContiguousArray<UInt8>, among recoveryKeys: [RecoveryPublicKey]) {
            let id = KeyID(value: claim.span.bigEndian(at: 1))
            guard claim.count == Self.claimLength, let key = recoveryKeys.first(where: { $0.id == id }) else {
                return nil
            }
            self.init(serial: claim.span.bigEndian(at: RotationStatement.serial), claim: claim, by: key)
        }

        /// The sender key that the statement pinned.
        package var newKeyBytes: ContiguousArray<UInt8> { ContiguousArray(claim[RotationStatement.newKey]) }

        init(_ statement: RotationStatement, by recoveryKey: RecoveryPublicKey) {
            serial = statement.serial
            claim = statement.claim
            self.recoveryKey = recoveryKey
        }
    }

    /// The effect of an accepted statement.
    public enum Change: Hashable, Sendable {
        /// None: the same statement was accepted before.
        case unchanged
        /// The second key is pinned instead of the first.
        case rotated(from: ProviderPublicKey, to: ProviderPublicKey)
        /// The key is pinned instead of whatever was pinned, and every other key of the sender is revoked.
        case recovered(to: ProviderPublicKey)
    }

    /// The outcome of one statement.
    struct Outcome {
        /// What it changed, or why it is not accepted.
        let change: Result<Change, RotationError>
        /// A conflict for any of the senders, which the app is told of even if another sender accepted the statement.
        let conflict: RotationError?
    }

    /// The senders, in the order of the store.
    package private(set) var senders: [Sender]
    /// Keys that are revoked for senders of other apps.
    private let revokedElsewhere: Set<ProviderPublicKey>
    /// Recovery keys of senders of other apps, none of which may become a sender's key.
    private let recoveryKeysElsewhere: Set<RecoveryPublicKey>

    /// Creates a value from the senders of a store.
    ///
    /// - Parameters:
    ///   - senders: The senders that are bound to the app, or to none.
    ///   - others: The senders that are bound to other apps: a key that is revoked for one is revoked for all.
    package init(_ senders: [Sender], others: [Sender] = []) {
        self.senders = senders
        revokedElsewhere = Set(others.flatMap(\.superseded).filter(\.isRevoked).map(\.key))
        recoveryKeysElsewhere = Set(others.flatMap(\.recoveryKeys))
    }

    /// Creates a value from keys without names: each is a sender.
    public init(pinned: [ProviderPublicKey] = []) {
        self.init(pinned: pinned, superseded: [])
    }

    /// Creates a value from keys without names: each pinned key is a sender, for which the others were superseded.
    package init(pinned: [ProviderPublicKey] = [], superseded: [Superseded]) {
        let pins: [ProviderPublicKey?] = pinned.isEmpty && !superseded.isEmpty ? [nil] : pinned
        self.init(pins.map { Sender(pinned: $0, superseded: superseded) })
    }

    // MARK: Keys

    /// The keys that are trusted without a time limit, each once.
    public var pinned: [ProviderPublicKey] { senders.compactMap(\.pinned).filter { !isRevoked($0) }.unique }

    /// The keys that were superseded or revoked for a sender, each once, oldest first.
    package var superseded: [Superseded] { senders.flatMap(\.superseded).unique }

    /// Whether a key is revoked for any sender, and so for all.
    package func isRevoked(_ key: ProviderPublicKey) -> Bool {
        revokedElsewhere.contains(key) || senders.contains { $0.superseded.contains { $0.isRevoked && $0.key == key } }
    }

    /// Returns the keys with this id that verify messages now: pinned, or superseded and still in the overlap.
    package func candidates(for id: KeyID, at now: Timestamp) -> [ProviderPublicKey] {
        // Every message comes this way, so nothing is hashed here.
        var keys: [ProviderPublicKey] = []
        func add(_ key: ProviderPublicKey) {
            if key.id == id, !keys.contains(key), !isRevoked(key) { keys.append(key) }
        }
        for sender in senders { if let key = sender.pinned { add(key) } }
        for sender in senders {
            for old in sender.superseded { if let end = old.verifiesUntil, now <= end { add(old.key) } }
        }
        return keys
    }

    /// Returns a key, and those that its sender had before and that still verify messages.
    package func keys(supersededBy key: ProviderPublicKey, at now: Timestamp) -> [ProviderPublicKey] {
        var keys = [key]
        for sender in senders where !sender.superseded.isEmpty {
            let isPinned = sender.pinned == key
            guard
                let end = isPinned ? sender.superseded.endIndex : sender.superseded.firstIndex(where: { $0.key == key })
            else { continue }
            for old in sender.superseded[..<end] where !keys.contains(old.key) && !isRevoked(old.key) {
                if let end = old.verifiesUntil, now <= end { keys.append(old.key) }
            }
        }
        return keys
    }

    // MARK: Statements

    /// Accepts a statement, or throws without a change.
    ///
    /// The caller stores the result only after the message with the statement has passed all checks.
    ///
    /// - Throws: `RotationError`, with any code except `malformedStatement`.
    public mutating func accept(
        _ statement: RotationStatement, for topic: Topic, at now: Timestamp
    ) throws(RotationError) -> Change {
        try evaluate(statement, for: topic, at: now).change.get()
    }

    /// Evaluates a statement for each sender separately, and applies it to those that accept it.
    mutating func evaluate(_ statement: RotationStatement, for topic: Topic, at now: Timestamp) -> Outcome {
        var change: Change?
        var isKnown = false
        var conflict: RotationError?
        var refusal = RotationError(
            statement.isRecovery ? 15 : 3, statement.isRecovery ? .unknownRecoveryKey : .untrustedKey,
            statement.isRecovery
                ? "no trusted sender has this recovery key"
                : "the statement's old key \(statement.keyID) is not pinned here")
        let before = self
        for index in senders.indices {
            do throws(RotationError) {
                let accepted =
                    statement.isRecovery
                    ? try before.recovery(of: senders[index], by: statement, for: topic)
                    : try before.rotation(of: senders[index], by: statement, at: now)
                guard let (sender, effect) = accepted else {
                    isKnown = true
                    continue
                }
                senders[index] = sender
                change = change ?? effect
            } catch {
                if error.isConflict { conflict = conflict ?? error }
                if error.rule > refusal.rule { refusal = error }
            }
        }
        let result: Result<Change, RotationError> =
            if let change {
                .success(change)
            } else if let conflict {
                .failure(conflict)
            } else if isKnown {
                .success(.unchanged)
            } else {
                .failure(refusal)
            }
        return Outcome(change: result, conflict: conflict)
    }

    /// Evaluates for one sender; returns nil if there is no change.
    private func rotation(
        of sender: Sender, by statement: RotationStatement, at now: Timestamp
    ) throws(RotationError) -> (Sender, Change)? {
        if sender.superseded.contains(where: { $0.statement?.claim == statement.claim }) { return nil }
        let known = ([sender.pinned].compactMap(\.self) + sender.superseded.map(\.key)).filter {
            $0.id == statement.keyID
        }
        guard !known.isEmpty else {
            throw RotationError(
                3, .untrustedKey, "the statement's old key \(statement.keyID) is not pinned here")
        }
        guard let old = known.first(where: statement.isSigned(byOld:)) else {
            throw RotationError(4, .badSignature, "the old key did not sign the statement")
        }
        let new = try statement.newKey(after: old)
        guard !isRevoked(old) else {
            throw RotationError(
                7, .untrustedKey, "the statement's old key \(old.id) was replaced here by the app or a recovery")
        }
        guard sender.pinned == old else {
            guard sender.superseded.contains(where: { $0.key == old && $0.statement != nil }) else {
                throw RotationError(7, .untrustedKey, "the statement's old key \(old.id) was replaced here")
            }
            throw RotationError(
                7, .conflict,
                "key \(old.id) was superseded before and has signed another statement: treat it as stolen, and give the devices the right key through the app"
            )
        }
        guard new != old, canPin(new, for: sender) else { throw RotationError(8, refusing: new) }
        guard statement.overlap <= RotationStatement.maximumOverlap else {
            throw RotationError(9, .overlapTooLong, "the statement keeps the old key for more than 60 days")
        }
        guard statement.issuedAt <= now.adding(Freshness.clockTolerance) else {
            throw RotationError(
                10, .notYetValid, "the statement was issued more than a day in the future; check the clock")
        }
        guard now <= statement.issuedAt.adding(statement.acceptFor) else {
            throw RotationError(11, .expired, "the statement has expired; pin the new key directly")
        }
        var changed = sender
        changed.pinned = new
        changed.superseded.append(Superseded(key: old, verifiesUntil: statement.overlapEnd, statement: statement))
        return (changed, .rotated(from: old, to: new))
    }

    /// Evaluates for one sender; returns nil if there is no change.
    private func recovery(
        of sender: Sender, by statement: RotationStatement, for topic: Topic
    ) throws(RotationError) -> (Sender, Change)? {
        let known = sender.recoveryKeys.filter { $0.id == statement.keyID }
        guard let pinned = sender.pinned, !known.isEmpty else {
            throw RotationError(
                15, .unknownRecoveryKey, "recovery key \(statement.keyID) is not one of this sender's here")
        }
        guard let recoveryKey = known.first(where: { statement.isSigned(byRecovery: $0, for: topic) }) else {
            throw RotationError(
                16, .badSignature, "the recovery key did not sign the statement, or did so for another app")
        }
        let new = try statement.newKey(afterRecoveryBy: recoveryKey, for: topic)
        let last = sender.lastRecovery
        guard statement.serial > last?.serial ?? 0 else {
            guard statement.serial < last?.serial ?? 0 || statement.claim == last?.claim else {
                throw RotationError(
                    19, .recoveryConflict,
                    "the recovery key has signed two statements with serial \(statement.serial): treat it as stolen, and ship the right keys in an app release"
                )
            }
            return nil
        }
        guard canPin(new, for: sender) else { throw RotationError(20, refusing: new) }
        var changed = sender
        var ended = sender.superseded.map(\.key)
        if pinned != new { ended.append(pinned) }
        changed.superseded = ended.unique.map(Superseded.init(revoked:))
        changed.pinned = new
        changed.lastRecovery = LastRecovery(statement, by: recoveryKey)
        return (changed, .recovered(to: new))
    }

    /// Whether a statement may pin a key: trust never returns to one, and no key is both a sender's and a recovery key.
    private func canPin(_ key: ProviderPublicKey, for sender: Sender) -> Bool {
        !sender.superseded.contains { $0.key == key } && !isRevoked(key)
            && !recoveryKeysElsewhere.contains { $0.bytes == key.bytes }
            && !senders.contains { $0.recoveryKeys.contains { $0.bytes == key.bytes } }
    }
}

extension RotationError {
    fileprivate init(_ rule: Int, refusing new: ProviderPublicKey) {
        self.init(
            rule, .supersededKey,
            "the statement's new key \(new.id) was superseded or revoked before, or is a recovery key")
    }

    fileprivate var isConflict: Bool { code == .conflict || code == .recoveryConflict }
}

extension Array where Element: Hashable {
    /// The elements in their order, each once.
    fileprivate var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
