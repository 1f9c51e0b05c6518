/// A statement that changes a sender's key: a rotation, signed by the old and the new key, or a recovery, signed by a
/// recovery key and the new key; 181 bytes.
///
/// A value is parsed, but not yet accepted: that is up to ``ProviderTrust``. (`Docs/FormatRotation.md`)
public struct RotationStatement: Hashable, Sendable {
    /// The length in bytes.
    public static let length = secondSignature.upperBound

    /// The default time for which receivers accept a rotation: 400 days.
    public static let standardAcceptFor = Interval.days(400)
    /// The default time for which the old key still verifies messages: 31 days.
    public static let standardOverlap = Interval.days(31)
    /// The longest overlap that receivers accept: 60 days.
    package static let maximumOverlap = Interval.days(60)
    /// The maximum number of statements in one message.
    package static let maximumPerMessage = 4

    /// The number of bytes that both keys sign.
    static let claimLength = signed.count
    static let rotationVersion: UInt8 = 0x01
    static let recoveryVersion: UInt8 = 0x02
    static let newKey = 5..<37
    static let serial = 49
    private static let signed = 0..<53
    private static let firstSignature = 53..<117
    private static let secondSignature = 117..<181

    enum Role: UInt8 {
        case old = 0x01
        case new = 0x02
        case recovery = 0x03
    }

    /// The statement as it is sent.
    public let bytes: ContiguousArray<UInt8>

    /// Whether it is a recovery, which replaces whatever is pinned.
    package var isRecovery: Bool { bytes[0] == Self.recoveryVersion }
    /// The id of the key that signs first: the replaced key, or the recovery key.
    public var keyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }
    /// The time of issue; of a recovery, for people only.
    public var issuedAt: Timestamp { Timestamp(milliseconds: bytes.span.bigEndian(at: 37)) }
    /// The time after `issuedAt` for which receivers accept a rotation; meaningless for a recovery.
    package var acceptFor: Interval { interval(at: 45) }
    /// The time after `issuedAt` for which the old key still verifies messages; 0 for a recovery.
    package var overlap: Interval { isRecovery ? .seconds(0) : interval(at: 49) }
    /// The last moment at which the old key verifies messages after a rotation.
    package var overlapEnd: Timestamp { issuedAt.adding(overlap) }
    /// The number of a recovery, above the previous one; 0 for a rotation.
    package var serial: UInt32 { isRecovery ? bytes.span.bigEndian(at: Self.serial) : 0 }

    /// The bytes that both keys sign: statements with equal bytes say the same, whatever their signatures.
    package var claim: ContiguousArray<UInt8> { ContiguousArray(bytes[Self.signed]) }
    /// The bytes of the new key, unchecked: to compare them with a pinned key.
    package var newKeyBytes: ContiguousArray<UInt8> { ContiguousArray(bytes[Self.newKey]) }

    private func interval(at offset: Int) -> Interval {
        .seconds(UInt64(bytes.span.bigEndian(at: offset, as: UInt32.self)))
    }

    /// Parses 181 bytes.
    ///
    /// - Throws: `malformedStatement` for another length or version, or a recovery without a serial.
    public init(bytes: Span<UInt8>) throws(RotationError) {
        guard bytes.count == Self.length,
            bytes[0] == Self.rotationVersion
                || bytes[0] == Self.recoveryVersion && bytes.bigEndian(at: Self.serial, as: UInt32.self) != 0
        else {
            throw RotationError(
                1, .malformedStatement,
                "a statement has \(Self.length) bytes and begins with version 1, or with version 2 and has a serial")
        }
        self.bytes = ContiguousArray(copying: bytes)
    }

    /// Issues a statement that `new` replaces `old`.
    ///
    /// - Parameters:
    ///   - old: The key that is replaced.
    ///   - new: The key that replaces it.
    ///   - now: The time of issue.
    ///   - acceptFor: The time for which receivers accept the statement; at most 2^32 - 1 seconds, a longer time is
    ///     shortened.
    ///   - overlap: The time for which the old key still verifies messages; at most 60 days.
    /// - Throws: `overlapTooLong` for more than 60 days; `supersededKey` if both are the same key.
    public init(
        from old: ProviderKey, to new: ProviderKey, at now: Timestamp, acceptFor: Interval = standardAcceptFor,
        overlap: Interval = standardOverlap
    ) throws(RotationError) {
        let unsigned = try UnsignedRotation(
            from: old.publicKey, to: new.publicKey, at: now, acceptFor: acceptFor, overlap: overlap)
        self.init(
            claim: unsigned.claim, old.signature(of: unsigned.message(.old).span),
            new.signature(of: unsigned.message(.new).span))
    }

    /// Joins the parts of a statement.
    init(claim: ContiguousArray<UInt8>, _ first: ContiguousArray<UInt8>, _ second: ContiguousArray<UInt8>) {
        bytes = claim + first + second
    }

    static func claim(
        version: UInt8, signedBy keyID: KeyID, _ newKey: ProviderPublicKey, at now: Timestamp, _ fifth: UInt32,
        _ sixth: UInt32
    ) -> ContiguousArray<UInt8> {
        var claim: ContiguousArray<UInt8> = [version]
        claim.append(bigEndian: keyID.value)
        claim.append(contentsOf: newKey.bytes)
        claim.append(bigEndian: now.milliseconds)
        claim.append(bigEndian: fifth)
        claim.append(bigEndian: sixth)
        return claim
    }

    // MARK: Signatures

    /// Returns whether `old` signed this rotation.
    func isSigned(byOld old: ProviderPublicKey) -> Bool {
        isValid(Self.firstSignature, for: Self.message(.old, old: old, bytes.span.extracting(Self.signed)), old.bytes)
    }

    /// Returns whether a recovery key signed this recovery, for this app.
    func isSigned(byRecovery key: RecoveryPublicKey, for topic: Topic) -> Bool {
        isValid(
            Self.firstSignature, for: Self.message(.recovery, by: key, topic, bytes.span.extracting(Self.signed)),
            key.bytes)
    }

    /// Returns the new key of a rotation, after its import check and a check of its signature.
    func newKey(after old: ProviderPublicKey) throws(RotationError) -> ProviderPublicKey {
        try newKey(rules: (5, 6), for: Self.message(.new, old: old, bytes.span.extracting(Self.signed)))
    }

    /// Returns the new key of a recovery, after its import check and a check of its signature.
    func newKey(
        afterRecoveryBy key: RecoveryPublicKey, for topic: Topic
    ) throws(RotationError) -> ProviderPublicKey {
        try newKey(rules: (17, 18), for: Self.message(.new, by: key, topic, bytes.span.extracting(Self.signed)))
    }

    private func newKey(
        rules: (import: Int, signature: Int), for message: ContiguousArray<UInt8>
    ) throws(RotationError) -> ProviderPublicKey {
        guard let key = try? ProviderPublicKey(bytes: bytes.span.extracting(Self.newKey)) else {
            throw RotationError(
                rules.import, .weakKey, "the statement's new key is weak: signatures under it could be forged")
        }
        guard isValid(Self.secondSignature, for: message, key.bytes) else {
            throw RotationError(rules.signature, .badSignature, "the new key did not sign the statement")
        }
        return key
    }

    private func isValid(
        _ signature: Range<Int>, for message: ContiguousArray<UInt8>, _ key: ContiguousArray<UInt8>
    ) -> Bool {
        Ed25519.isValid(bytes.span.extracting(signature), for: message.span, publicKey: key.span)
    }

    static func message(_ role: Role, old: ProviderPublicKey, _ claim: Span<UInt8>) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 rotation\0")
        message.append(role.rawValue)
        message.append(contentsOf: old.bytes)
        message.append(copying: claim)
        return message
    }

    /// Returns what the keys of a recovery sign: the app too, so that each app needs its own statement.
    static func message(
        _ role: Role, by key: RecoveryPublicKey, _ topic: Topic, _ claim: Span<UInt8>
    ) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 recovery\0")
        message.append(role.rawValue)
        message.append(contentsOf: key.bytes)
        message.append(contentsOf: topic.lengthPrefixed)
        message.append(copying: claim)
        return message
    }
}
