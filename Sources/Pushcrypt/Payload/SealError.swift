/// An error for a payload that was refused.
public struct SealError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedPayload = "malformed-payload"
            case missingAPS = "missing-aps"
            case invalidField = "invalid-field"
            case nothingToShow = "nothing-to-show"
            case reservedKey = "reserved-key"
            case tooManyAttachments = "too-many-attachments"
            case payloadTooLarge = "payload-too-large"
            case pushTooLarge = "push-too-large"
            case pushTypeNotSealable = "push-type-not-sealable"
            case invalidPlaceholder = "invalid-placeholder"
            case invalidTime = "invalid-time"
            case invalidRequest = "invalid-request"
            case unusableKey = "unusable-key"
            case unsupportedSuite = "unsupported-suite"
        }

        private let known: Known

        /// The payload is not a single JSON object (RFC 8259), or has a name twice, or is nested deeper than 32.
        public static let malformedPayload = Code(known: .malformedPayload)
        /// The payload has no `aps` object.
        public static let missingAPS = Code(known: .missingAPS)
        /// A field of `aps` has a type or a value that Apple's documentation does not allow.
        public static let invalidField = Code(known: .invalidField)
        /// The alert has no title, subtitle or body: the system would not start the extension, and nothing would be
        /// shown.
        public static let nothingToShow = Code(known: .nothingToShow)
        /// The payload already has `ENCRYPTED_DATA`, or a key that is reserved for the format.
        public static let reservedKey = Code(known: .reservedKey)
        /// There are more than 8 attachments.
        public static let tooManyAttachments = Code(known: .tooManyAttachments)
        /// The minified payload, including attachments, does not fit into the largest bucket.
        public static let payloadTooLarge = Code(known: .payloadTooLarge)
        /// The push is longer than Apple accepts, because of its clear part.
        public static let pushTooLarge = Code(known: .pushTooLarge)
        /// The system reads a push of this type before any of the app's code runs, or there is no such type.
        public static let pushTypeNotSealable = Code(known: .pushTypeNotSealable)
        /// The placeholder would show nothing, or does not fit into a push.
        public static let invalidPlaceholder = Code(known: .invalidPlaceholder)
        /// The time to live or the clock is out of range, or the signing key's certificate has expired.
        public static let invalidTime = Code(known: .invalidTime)
        /// A header of the request is not valid, or the name of a message, a device or a collapse group is empty or too
        /// long.
        public static let invalidRequest = Code(known: .invalidRequest)
        /// libsodium refused the recipient's key.
        public static let unusableKey = Code(known: .unusableKey)
        /// This build cannot seal to a key of the recipient's suite.
        public static let unsupportedSuite = Code(known: .unsupportedSuite)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `payload-too-large`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The error, its place and its fix, without payload bytes.
    public let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// `reasons` names other parts of the message that take room.
    static func payloadTooLarge(_ length: Int, budget: Int, reasons: String = "") -> SealError {
        SealError(
            .payloadTooLarge,
            "the payload has \(length) bytes without white space, \(length - budget) more than fit (\(budget)); shorten it by that much\(reasons)"
        )
    }

    static func pushTooLarge(_ length: Int, limit: Int, isSentExactly: Bool, fix: String) -> SealError {
        SealError(
            .pushTooLarge,
            "the push would have \(length) bytes\(isSentExactly ? "" : " in the widest form that a client may send"), \(length - limit) more than Apple accepts (\(limit)); \(fix)"
        )
    }

    init(unusableKey id: KeyID) {
        self.init(.unusableKey, "libsodium refused the device's key \(id); have the device register again")
    }
}
