/// A payload that was not sealed: refused, or not signed. Equal when the codes are equal.
public struct SealError: CodedError {
    /// Why a payload was not sealed.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
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
            case signingFailed = "signing-failed"
        }

        private let known: Known

        /// Not one JSON object as RFC 8259 has it, or with a name twice, or nested deeper than 32.
        public static let malformedPayload = Code(known: .malformedPayload)
        /// No `aps` object.
        public static let missingAPS = Code(known: .missingAPS)
        /// A field of `aps` has a type or a value that Apple's documents do not allow.
        public static let invalidField = Code(known: .invalidField)
        /// No title, subtitle or body: the system would not start the extension, and there would be nothing to show.
        public static let nothingToShow = Code(known: .nothingToShow)
        /// The payload has `ENCRYPTED_DATA` already, or a key that is kept for this format.
        public static let reservedKey = Code(known: .reservedKey)
        /// More attachments than the 8 that a notification may have.
        public static let tooManyAttachments = Code(known: .tooManyAttachments)
        /// The minified payload, attachments included, is longer than the largest bucket holds.
        public static let payloadTooLarge = Code(known: .payloadTooLarge)
        /// The push to send is longer than Apple takes, because of its clear part.
        public static let pushTooLarge = Code(known: .pushTooLarge)
        /// A push type that the system reads before any code of the app.
        public static let pushTypeNotSealable = Code(known: .pushTypeNotSealable)
        /// The placeholder would show nothing, or fits no push.
        public static let invalidPlaceholder = Code(known: .invalidPlaceholder)
        /// The time to live or the clock is out of range.
        public static let invalidTime = Code(known: .invalidTime)
        /// A header of the request that Apple does not take, or an empty name for a message or for what collapses.
        public static let invalidRequest = Code(known: .invalidRequest)
        /// libsodium refused the recipient's key.
        public static let unusableKey = Code(known: .unusableKey)
        /// The signer, whose key is not in this process, gave no good signature; `signing` says why.
        public static let signingFailed = Code(known: .signingFailed)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `payload-too-large`.
        public var description: String { known.rawValue }
    }

    /// Why.
    public let code: Code
    /// Where, and what to do; never holds payload bytes.
    public let description: String
    /// The signer's reason, with `signingFailed`: the payload is in order, and may be sealed again.
    public let signing: SigningError?

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
        signing = nil
    }

    /// `reasons` says what else than the payload takes room.
    static func payloadTooLarge(_ length: Int, budget: Int, reasons: String = "") -> SealError {
        SealError(
            .payloadTooLarge,
            "the payload has \(length) bytes without white space, \(length - budget) more than fit (\(budget)); shorten it by that much\(reasons)"
        )
    }

    static func pushTooLarge(_ length: Int, limit: Int, isSentExactly: Bool, fix: String) -> SealError {
        SealError(
            .pushTooLarge,
            "the push would have \(length) bytes\(isSentExactly ? "" : " in the widest form a client may send"), \(length - limit) more than Apple takes (\(limit)); \(fix)"
        )
    }

    init(unusableKey id: KeyID) {
        self.init(.unusableKey, "libsodium refused the device's key \(id); have the device register again")
    }

    init(_ signing: SigningError) {
        code = .signingFailed
        description = "\(signing.code): \(signing)"
        self.signing = signing
    }
}
