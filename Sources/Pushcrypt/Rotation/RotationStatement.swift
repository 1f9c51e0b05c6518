/// A provider's signed word that one sender key takes the place of another; 181 bytes, signed by both keys.
///
/// A value of this type is parsed, not believed: `SenderTrust` decides. (`Docs/Format.md`, Rotation)
public struct RotationStatement: Hashable, Sendable {
    /// The length in bytes.
    public static let length = signatureByNew.upperBound

    /// How long receivers accept a statement unless its issuer says otherwise: 400 days, in seconds.
    public static let standardAcceptFor: UInt32 = 34_560_000
    /// How long the old key goes on verifying messages unless its issuer says otherwise: 31 days, in seconds.
    public static let standardOverlap: UInt32 = 2_678_400
    /// The longest overlap a receiver accepts: 60 days, in seconds.
    public static let maximumOverlap: UInt32 = 5_184_000
    /// The most statements that one message carries.
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

    /// The statement as it travels.
    public let bytes: ContiguousArray<UInt8>

    /// The id of the key that is superseded.
    public var oldKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: 1)) }
    /// When it was issued.
    public var issuedAt: Timestamp { Timestamp(milliseconds: bytes.span.bigEndian(at: 37)) }
    /// For how many seconds after `issuedAt` receivers accept it.
    public var acceptFor: UInt32 { bytes.span.bigEndian(at: 45) }
    /// For how many seconds after `issuedAt` the old key goes on verifying messages.
    public var overlap: UInt32 { bytes.span.bigEndian(at: 49) }
    /// The last moment at which the old key verifies messages.
    public var overlapEnd: Timestamp { issuedAt.adding(seconds: UInt64(overlap)) }

    /// Parses 181 bytes; throws `malformedStatement` for another length or version.
    public init(bytes: Span<UInt8>) throws(RotationError) {
        guard bytes.count == Self.length, bytes[0] == Self.version else {
            throw RotationError(
                .malformedStatement, "a rotation statement has \(Self.length) bytes and begins with version 1")
        }
        self.bytes = ContiguousArray(copying: bytes)
    }

    /// Issues a statement that `new` takes the place of `old`; throws `overlapTooLong` above 60 days, and
    /// `supersededKey` when both are the same key.
    public init(
        from old: SenderKey, to new: SenderKey, issuedAt: Timestamp, acceptFor: UInt32 = standardAcceptFor,
        overlap: UInt32 = standardOverlap
    ) throws(RotationError) {
        guard overlap <= Self.maximumOverlap else {
            throw RotationError(
                .overlapTooLong, "the old key may verify for at most \(Self.maximumOverlap) seconds (60 days)")
        }
        guard old.publicKey != new.publicKey else {
            throw RotationError(.supersededKey, "a key cannot take its own place")
        }
        var output = ContiguousArray<UInt8>()
        output.append(Self.version)
        output.append(bigEndian: old.id.value)
        output.append(contentsOf: new.publicKey.bytes)
        output.append(bigEndian: issuedAt.milliseconds)
        output.append(bigEndian: acceptFor)
        output.append(bigEndian: overlap)
        let unsigned = output
        for (role, key) in [(Role.old, old), (.new, new)] {
            output.append(contentsOf: key.signature(of: Self.message(role, old: old.publicKey, unsigned.span).span))
        }
        bytes = output
    }

    /// Tells whether `old` signed this statement.
    func isSigned(byOld old: SenderPublicKey) -> Bool {
        isSigned(.old, by: old, old: old, Self.signatureByOld)
    }

    /// Gives the new key once it has passed the import check and its own signature.
    func newKey(after old: SenderPublicKey) throws(RotationError) -> SenderPublicKey {
        guard let key = try? SenderPublicKey(bytes: bytes.span.extracting(Self.newKey)) else {
            throw RotationError(.weakKey, "the statement's new key is not one a sender makes")
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

/// A rotation statement that is not accepted. Equal when the codes are equal. (`Docs/Format.md`, Rotation)
public struct RotationError: CodedError {
    /// Why a rotation statement is not accepted.
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
        /// The new key was superseded here before: trust never goes back.
        public static let supersededKey = Code(known: .supersededKey)
        /// The old key would verify for longer than 60 days.
        public static let overlapTooLong = Code(known: .overlapTooLong)
        /// Issued more than 24 hours from now.
        public static let notYetValid = Code(known: .notYetValid)
        /// Its time to be accepted has passed.
        public static let expired = Code(known: .expired)
        /// A second, different statement for a key that was superseded: evidence that the key was stolen.
        public static let conflict = Code(known: .conflict)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `rotation-conflict`.
        public var description: String { known.rawValue }
    }

    /// Why.
    public let code: Code
    /// What happened, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
