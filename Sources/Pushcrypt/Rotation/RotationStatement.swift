/// A provider's statement that one sender key replaces another; 181 bytes, signed by both keys.
///
/// A value is parsed, but not yet accepted: that is up to ``SenderTrust``. (`Docs/Format.md`, Rotation)
public struct RotationStatement: Hashable, Sendable {
    /// The length in bytes.
    public static let length = signatureByNew.upperBound

    /// The default time for which receivers accept a statement: 400 days.
    public static let standardAcceptFor = Interval.days(400)
    /// The default time for which the old key still verifies messages: 31 days.
    public static let standardOverlap = Interval.days(31)
    /// The longest overlap that receivers accept: 60 days.
    public static let maximumOverlap = Interval.days(60)
    /// The maximum number of statements in one message.
    public static let maximumPerMessage = 4

    static let version: UInt8 = 0x01
    private static let newKey = 5..<37
    private static let signed = 0..<53
    private static let signatureByOld = 53..<117
    private static let signatureByNew = 117..<181

    private enum Role: UInt8 {
        case old = 0x01
        case new = 0x02
    }

    /// The statement as it is sent.
    public let bytes: ContiguousArray<UInt8>

    /// The id of the key that is replaced.
    public var oldKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }
    /// The time of issue.
    public var issuedAt: Timestamp { Timestamp(milliseconds: bytes.span.bigEndian(at: 37)) }
    /// The time after `issuedAt` for which receivers accept the statement.
    public var acceptFor: Interval { interval(at: 45) }
    /// The time after `issuedAt` for which the old key still verifies messages.
    public var overlap: Interval { interval(at: 49) }
    /// The last moment at which the old key verifies messages.
    public var overlapEnd: Timestamp { issuedAt.adding(overlap) }

    private func interval(at offset: Int) -> Interval {
        .seconds(UInt64(bytes.span.bigEndian(at: offset, as: UInt32.self)))
    }

    /// Parses 181 bytes.
    ///
    /// - Throws: `malformedStatement` for another length or version.
    public init(bytes: Span<UInt8>) throws(RotationError) {
        guard bytes.count == Self.length, bytes[0] == Self.version else {
            throw RotationError(
                .malformedStatement, "a rotation statement has \(Self.length) bytes and begins with version 1")
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
        from old: SenderKey, to new: SenderKey, at now: Timestamp, acceptFor: Interval = standardAcceptFor,
        overlap: Interval = standardOverlap
    ) throws(RotationError) {
        guard overlap <= Self.maximumOverlap else {
            throw RotationError(
                .overlapTooLong, "the old key may verify for at most \(Self.maximumOverlap.seconds) seconds (60 days)")
        }
        guard old.publicKey != new.publicKey else {
            throw RotationError(.supersededKey, "a key cannot replace itself")
        }
        var output = ContiguousArray<UInt8>()
        output.append(Self.version)
        output.append(bigEndian: old.id.value)
        output.append(contentsOf: new.publicKey.bytes)
        output.append(bigEndian: now.milliseconds)
        output.append(bigEndian: UInt32(clamping: acceptFor.seconds))
        output.append(bigEndian: UInt32(clamping: overlap.seconds))
        let unsigned = output
        for (role, key) in [(Role.old, old), (.new, new)] {
            output.append(contentsOf: key.signature(of: Self.message(role, old: old.publicKey, unsigned.span).span))
        }
        bytes = output
    }

    /// Returns whether `old` signed this statement.
    func isSigned(byOld old: SenderPublicKey) -> Bool {
        isSigned(.old, by: old, old: old, Self.signatureByOld)
    }

    /// Returns the new key, after its import check and a check of its signature.
    func newKey(after old: SenderPublicKey) throws(RotationError) -> SenderPublicKey {
        guard let key = try? SenderPublicKey(bytes: bytes.span.extracting(Self.newKey)) else {
            throw RotationError(.weakKey, "no sender generates the statement's new key")
        }
        guard isSigned(.new, by: key, old: old, Self.signatureByNew) else {
            throw RotationError(.badSignature, "the new key did not sign the statement")
        }
        return key
    }

    private func isSigned(_ role: Role, by key: SenderPublicKey, old: SenderPublicKey, _ range: Range<Int>) -> Bool {
        let message = Self.message(role, old: old, bytes.span.extracting(Self.signed))
        return Ed25519.isValid(bytes.span.extracting(range), for: message.span, publicKey: key.bytes.span)
    }

    private static func message(_ role: Role, old: SenderPublicKey, _ unsigned: Span<UInt8>) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 rotation\0")
        message.append(role.rawValue)
        message.append(contentsOf: old.bytes)
        message.append(copying: unsigned)
        return message
    }
}

/// An error for a rotation statement that is not accepted. (`Docs/Format.md`, Rotation)
public struct RotationError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedStatement = "malformed-statement"
            case untrustedKey = "untrusted-old-key"
            case badSignature = "bad-statement-signature"
            case weakKey = "weak-key"
            case supersededKey = "superseded-new-key"
            case overlapTooLong = "overlap-too-long"
            case notYetValid = "statement-not-yet-valid"
            case expired = "statement-expired"
            case conflict = "rotation-conflict"
        }

        private let known: Known

        /// Not 181 bytes, or an unknown version.
        public static let malformedStatement = Code(known: .malformedStatement)
        /// The old key is not pinned here.
        public static let untrustedKey = Code(known: .untrustedKey)
        /// One of the two signatures is wrong.
        public static let badSignature = Code(known: .badSignature)
        /// The new key fails the import check.
        public static let weakKey = Code(known: .weakKey)
        /// The new key was superseded here before: trust never returns to an old key.
        public static let supersededKey = Code(known: .supersededKey)
        /// The old key would verify messages for more than 60 days.
        public static let overlapTooLong = Code(known: .overlapTooLong)
        /// The statement was issued more than 24 hours in the future.
        public static let notYetValid = Code(known: .notYetValid)
        /// The time to accept the statement is over.
        public static let expired = Code(known: .expired)
        /// A second, different statement by a superseded key: evidence that the key was stolen.
        public static let conflict = Code(known: .conflict)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `rotation-conflict`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The error and its fix.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
