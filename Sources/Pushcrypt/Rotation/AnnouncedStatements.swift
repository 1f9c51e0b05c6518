/// The statements that messages of a sender key carry, for a provider without a store.
///
/// Their text has a line for each, oldest first: a key, a space, and the statement in base64url. The key is the one that a
/// rotation replaces, or the one that a recovery leads to: the next line replaces it, or it signs. (`Docs/KeyRotation.md`)
package struct AnnouncedStatements: Sendable {
    private let all: [RotationStatement]
    /// The key of each line.
    private let keys: [ProviderPublicKey]
    private let sender: ProviderPublicKey

    /// Returns the line of a statement; a rotation's key is the one that it replaces.
    package static func line(_ statement: RotationStatement, beginningWith key: ProviderPublicKey) -> String {
        "\(key) \(Base64URL.string(statement.bytes.span))\n"
    }

    /// Reads a text. Each rotation must lead on from the line before, and the last to `sender`; their signatures are checked. After a
    /// recovery, older rotations may be missing: they are no longer announced.
    ///
    /// - Throws: `malformedStatement`, `untrustedKey`, `badSignature`, `weakKey`.
    package init(text: String, endingAt sender: ProviderPublicKey) throws(RotationError) {
        var all: [RotationStatement] = []
        var keys: [ProviderPublicKey] = []
        var last: ProviderPublicKey?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, let bytes = Base64URL.decode(ContiguousArray(words[1]).span) else {
                throw Self.malformed("line \(all.count + 1) is not a key and a statement, or is cut")
            }
            let statement = try RotationStatement(bytes: bytes.span)
            if statement.isRecovery {
                guard all.isEmpty, (try? ProviderPublicKey(bytes: statement.newKeyBytes.span)) != nil else {
                    throw Self.malformed("a recovery must be the first line, and lead to a valid key")
                }
            }
            guard let key = try? ProviderPublicKey(text: String(decoding: words[0], as: UTF8.self)),
                last == nil || last == key,
                statement.isRecovery || key.id == statement.keyID
            else {
                throw Self.foreign(
                    "line \(all.count + 1) does not begin with the key that its statement replaces, or that the line before leads to"
                )
            }
            if statement.isRecovery {
                last = key
            } else {
                guard statement.isSigned(byOld: key) else {
                    throw RotationError(4, .badSignature, "the old key did not sign the statement")
                }
                last = try statement.newKey(after: key)
            }
            all.append(statement)
            keys.append(key)
        }
        guard !all.isEmpty, all.count <= RotationStatement.maximumPerMessage else {
            throw Self.malformed("there are \(all.count) statements, and a message carries 1 to 4")
        }
        guard last == sender else {
            throw Self.foreign("the last statement leads to another key than the one that signs")
        }
        self.all = all
        self.keys = keys
        self.sender = sender
    }

    /// Returns the text with one more rotation.
    ///
    /// - Parameters:
    ///   - rotation: The rotation, by the key to which the last line leads.
    ///   - old: That key.
    ///   - announcement: Older rotations stay for this long after their issue, a recovery permanently; all that lead on
    ///     from it stay while phones accept them and there is room.
    package func text(
        adding rotation: RotationStatement, replacing old: ProviderPublicKey, announcedFor announcement: Interval,
        at now: Timestamp
    ) -> String {
        let (recoveries, kept) = kept(announcedFor: announcement, at: now)
        let rotations = zip(all, keys).suffix(kept) + [(rotation, old)]
        // What the recovery leads to now.
        let first = rotations.first?.1 ?? old
        let lines =
            all.prefix(recoveries).map { Self.line($0, beginningWith: first) }
            + rotations.map { Self.line($0, beginningWith: $1) }
        return lines.joined()
    }

    /// Returns how many recoveries and rotations stay beside a new rotation.
    package func kept(announcedFor announcement: Interval, at now: Timestamp) -> (recoveries: Int, rotations: Int) {
        let recoveries = all.prefix { $0.isRecovery }.count
        let rotations = all.count - recoveries
        // Without one of them, phones that follow the recovery stop at its key.
        let isWhole = recoveries > 0 && all[0].newKeyBytes == keys[0].bytes && accepted(at: now).count == all.count
        if isWhole, all.count < RotationStatement.maximumPerMessage { return (recoveries, rotations) }
        let announced = all.reversed().prefix { !$0.isRecovery && now <= $0.issuedAt.adding(announcement) }
        return (recoveries, announced.count)
    }

    /// Refuses a new key that one of the rotations replaced: phones never return to one.
    ///
    /// - Throws: `supersededKey`.
    package func check(new key: ProviderPublicKey) throws(RotationError) {
        guard !keys.contains(key) else {
            throw RotationError(8, .supersededKey, "key \(key.id) was replaced before, and phones never return to one")
        }
    }

    /// The time of issue of the last statement.
    package var lastIssuedAt: Timestamp { all[all.count - 1].issuedAt }

    /// Returns the statements that phones accept at a time: a recovery always, and rotations without the ones before an expired one.
    ///
    /// - Parameter pinned: The key that the phone reported. If it is that of a rotation, only this one and the ones after it are
    ///   returned; none if it is the one that signs.
    package func accepted(at now: Timestamp, pinned: ProviderPublicKey? = nil) -> [RotationStatement] {
        if pinned == sender { return [] }
        let recoveries = all.prefix { $0.isRecovery }
        let reported = keys.indices.dropFirst(recoveries.count).first { keys[$0] == pinned }
        let rotations = all[(reported ?? recoveries.count)...].reversed().prefix {
            now <= $0.issuedAt.adding($0.acceptFor)
        }
        return (reported == nil ? recoveries : []) + rotations.reversed()
    }

    private static func malformed(_ what: String) -> RotationError { RotationError(1, .malformedStatement, what) }

    private static func foreign(_ what: String) -> RotationError { RotationError(3, .untrustedKey, what) }
}
