/// A rotation for keys that do not leave a key service, before they sign it.
///
/// Keys in this process need only ``RotationStatement/init(from:to:at:acceptFor:overlap:)``.
package struct UnsignedRotation: Hashable, Sendable {
    /// The key that is replaced.
    package let oldKey: ProviderPublicKey
    /// The key that replaces it.
    package let newKey: ProviderPublicKey
    /// The first 53 bytes of the statement.
    let claim: ContiguousArray<UInt8>

    /// Prepares a statement that `new` replaces `old`.
    ///
    /// - Parameters:
    ///   - old: The key that is replaced.
    ///   - new: The key that replaces it.
    ///   - now: The time of issue.
    ///   - acceptFor: The time for which receivers accept the statement; at most 2^32 - 1 seconds, a longer time is
    ///     shortened.
    ///   - overlap: The time for which the old key still verifies messages; at most 60 days.
    /// - Throws: `overlapTooLong` for more than 60 days; `supersededKey` if both are the same key.
    package init(
        from old: ProviderPublicKey, to new: ProviderPublicKey, at now: Timestamp,
        acceptFor: Interval = RotationStatement.standardAcceptFor,
        overlap: Interval = RotationStatement.standardOverlap
    ) throws(RotationError) {
        guard overlap <= RotationStatement.maximumOverlap else {
            throw RotationError(
                9, .overlapTooLong,
                "the old key may verify for at most \(RotationStatement.maximumOverlap.seconds) seconds (60 days)")
        }
        guard old != new else { throw RotationError(8, .supersededKey, "a key cannot replace itself") }
        oldKey = old
        newKey = new
        claim = RotationStatement.claim(
            version: RotationStatement.rotationVersion, signedBy: old.id, new, at: now,
            UInt32(clamping: acceptFor.seconds), UInt32(clamping: overlap.seconds))
    }

    /// Has both keys sign, the new one first: a signer that refuses it leaves nothing that the old key has signed.
    ///
    /// - Throws: `SigningError`, a signer's own, or `wrongSignature` for a signature by another key.
    package func signed(
        by old: any MessageSigner, and new: any MessageSigner
    ) throws(SigningError) -> RotationStatement {
        let second = try signature(.new, newKey, new)
        return RotationStatement(claim: claim, try signature(.old, oldKey, old), second)
    }

    func message(_ role: RotationStatement.Role) -> ContiguousArray<UInt8> {
        RotationStatement.message(role, old: oldKey, claim.span)
    }

    private func signature(
        _ role: RotationStatement.Role, _ key: ProviderPublicKey, _ signer: any MessageSigner
    ) throws(SigningError) -> ContiguousArray<UInt8> {
        let message = message(role)
        let signature = try signer.sign(statement: message)
        guard Ed25519.isValid(signature.span, for: message.span, publicKey: key.bytes.span) else {
            throw ExternalSigner.wrongSignature
        }
        return signature
    }
}
