/// An error for a payload that was refused.
public struct SealError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `payload-too-large`.
        public let description: String

        init(_ code: String) { description = code }

        /// The payload is not a single JSON object (RFC 8259), or has a name twice, or is nested deeper than 32.
        package static let malformedPayload = Code("malformed-payload")
        /// The payload has no `aps` object.
        public static let missingAPS = Code("missing-aps")
        /// A field of `aps` has a type or a value that Apple's documentation does not allow.
        package static let invalidField = Code("invalid-field")
        /// The alert has no title, subtitle or body: the system would not start the extension, and nothing would be
        /// shown.
        package static let nothingToShow = Code("nothing-to-show")
        /// The payload already has `ENCRYPTED_DATA`, or a key that is reserved for the format.
        package static let reservedKey = Code("reserved-key")
        /// There are more than 8 attachments.
        package static let tooManyAttachments = Code("too-many-attachments")
        /// The minified payload, including attachments, does not fit into the largest bucket.
        public static let payloadTooLarge = Code("payload-too-large")
        /// The push is longer than Apple accepts, because of its clear part.
        public static let pushTooLarge = Code("push-too-large")
        /// The system reads a push of this type before any of the app's code runs, or there is no such type.
        package static let pushTypeNotSealable = Code("push-type-not-sealable")
        /// The placeholder would show nothing, or does not fit into a push.
        package static let invalidPlaceholder = Code("invalid-placeholder")
        /// The time to live or the clock is out of range, or the signing key's certificate has expired.
        package static let invalidTime = Code("invalid-time")
        /// A header of the request is not valid, or the name of a message, a device or a collapse group is empty or too
        /// long.
        package static let invalidRequest = Code("invalid-request")
        /// libsodium refused the recipient's key.
        package static let unusableKey = Code("unusable-key")
        /// This build cannot seal to a key of the recipient's suite.
        package static let unsupportedSuite = Code("unsupported-suite")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedPayload, .missingAPS, .invalidField, .nothingToShow, .reservedKey, .tooManyAttachments,
            .payloadTooLarge, .pushTooLarge, .pushTypeNotSealable, .invalidPlaceholder, .invalidTime, .invalidRequest,
            .unusableKey, .unsupportedSuite,
        ]
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
