/// The statements that messages of a sender key carry, for a provider without a store.
///
/// Their text has a line for each, oldest first: a key, a space, and the statement in base64url. The key is the one that a
/// rotation replaces, or the one that a recovery leads to: the next line replaces it, or it signs. (`Docs/KeyRotation.md`)
package struct AnnouncedStatements: Sendable {
    private let all: [RotationStatement]
    /// The key of each line.
    private let keys: [SenderPublicKey]

    /// Returns the line of a statement.
    package static func line(_ statement: RotationStatement, _ key: SenderPublicKey) -> String {
        "\(key) \(Base64URL.string(statement.bytes.span))\n"
    }

    /// Reads a text. Each rotation must lead on from the line before, and the last to `sender`; their signatures are checked. After a
    /// recovery, older rotations may be missing: they are no longer announced.
    ///
    /// - Throws: `malformedStatement`, `untrustedKey`, `badSignature`, `weakKey`.
    package init(text: String, endingAt sender: SenderPublicKey) throws(RotationError) {
        var all: [RotationStatement] = []
        var keys: [SenderPublicKey] = []
        var last: SenderPublicKey?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let bytes = Base64URL.decode(ContiguousArray(words[1].utf8).span) else {
                throw Self.malformed("line \(all.count + 1) is not a key and a statement, or is cut")
            }
            let statement = try RotationStatement(bytes: bytes.span)
            if statement.isRecovery {
                guard all.isEmpty, (try? SenderPublicKey(bytes: statement.newKeyBytes.span)) != nil else {
                    throw Self.malformed("a recovery is only the first line, and not to a weak key")
                }
            }
            guard let key = try? SenderPublicKey(text: String(words[0])), last == nil || last == key,
                statement.isRecovery || key.id == statement.keyID
            else { throw Self.foreign("line \(all.count + 1) begins with another key than the line before leads to") }
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
    }

    /// Returns the text with one more rotation.
    ///
    /// - Parameters:
    ///   - rotation: The rotation, by the key to which the last line leads.
    ///   - old: That key.
    ///   - announcement: Older rotations stay for this long after their issue, a recovery permanently.
    package func text(
        adding rotation: RotationStatement, replacing old: SenderPublicKey, announcedFor announcement: Interval,
        at now: Timestamp
    ) -> String {
        let (recoveries, kept) = kept(announcedFor: announcement, at: now)
        let rotations = zip(all, keys).suffix(kept) + [(rotation, old)]
        // What the recovery leads to now.
        let first = rotations.first?.1 ?? old
        let lines = all.prefix(recoveries).map { Self.line($0, first) } + rotations.map { Self.line($0, $1) }
        return lines.joined()
    }

    /// Returns how many recoveries and rotations stay beside a new rotation.
    package func kept(announcedFor announcement: Interval, at now: Timestamp) -> (recoveries: Int, rotations: Int) {
        (
            all.prefix { $0.isRecovery }.count,
            all.reversed().prefix { !$0.isRecovery && now <= $0.issuedAt.adding(announcement) }.count
        )
    }

    /// The time of issue of the last one.
    package var issuedAt: Timestamp { all[all.count - 1].issuedAt }

    /// Returns the statements that phones accept at a time: a recovery always, and rotations without the ones before an expired one.
    package func accepted(at now: Timestamp) -> [RotationStatement] {
        let rotations = all.reversed().prefix { !$0.isRecovery && now <= $0.issuedAt.adding($0.acceptFor) }
        return all.prefix { $0.isRecovery } + rotations.reversed()
    }

    private static func malformed(_ what: String) -> RotationError { RotationError(1, .malformedStatement, what) }

    private static func foreign(_ what: String) -> RotationError { RotationError(3, .untrustedKey, what) }
}
