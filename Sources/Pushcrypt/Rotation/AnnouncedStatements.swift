/// The statements that messages of a sender key carry, for a provider without a store.
///
/// Their text has a line for each, oldest first: the key that it replaces, or `recovery`; a space; the statement in base64url.
/// (`Docs/KeyRotation.md`)
package struct AnnouncedStatements: Sendable {
    private static let recovery = "recovery"

    private let all: [RotationStatement]

    /// Returns the line of a statement; `old` is the key that a rotation replaces.
    package static func line(_ statement: RotationStatement, replacing old: SenderPublicKey?) -> String {
        "\(old.map { "\($0)" } ?? recovery) \(Base64URL.string(statement.bytes.span))\n"
    }

    /// Reads a text. Each rotation must lead on from the one before, and the last to `sender`; their signatures are checked. Rotations
    /// between a recovery and the first one may be missing: they are announced no longer.
    ///
    /// - Throws: `malformedStatement`, `untrustedKey`, `badSignature`, `weakKey`.
    package init(text: String, endingAt sender: SenderPublicKey) throws(RotationError) {
        var all: [RotationStatement] = []
        var last: SenderPublicKey?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let bytes = Base64URL.decode(ContiguousArray(words[1].utf8).span) else {
                throw Self.malformed("line \(all.count + 1) is not a key and a statement, or is cut")
            }
            let statement = try RotationStatement(bytes: bytes.span)
            if statement.isRecovery {
                guard all.isEmpty, words[0] == Self.recovery,
                    (try? SenderPublicKey(bytes: statement.newKeyBytes.span)) != nil
                else { throw Self.malformed("a recovery is only the first line, behind 'recovery'") }
            } else {
                guard let old = try? SenderPublicKey(text: String(words[0])), old.id == statement.keyID,
                    last == nil || last == old
                else { throw Self.foreign("line \(all.count + 1) replaces another key than the line before leads to") }
                guard statement.isSigned(byOld: old) else {
                    throw RotationError(4, .badSignature, "the old key did not sign the statement")
                }
                last = try statement.newKey(after: old)
            }
            all.append(statement)
        }
        guard !all.isEmpty, all.count <= RotationStatement.maximumPerMessage else {
            throw Self.malformed("there are \(all.count) statements, and a message carries 1 to 4")
        }
        guard last == nil || last == sender else {
            throw Self.foreign("the last statement leads to another key than the one that signs")
        }
        self.all = all
    }

    /// Returns the statements that phones accept at a time: a recovery always, and rotations without the ones before an expired one.
    package func accepted(at now: Timestamp) -> [RotationStatement] {
        let rotations = all.reversed().prefix { !$0.isRecovery && now <= $0.issuedAt.adding($0.acceptFor) }
        return all.prefix { $0.isRecovery } + rotations.reversed()
    }

    private static func malformed(_ what: String) -> RotationError { RotationError(1, .malformedStatement, what) }

    private static func foreign(_ what: String) -> RotationError { RotationError(3, .untrustedKey, what) }
}
