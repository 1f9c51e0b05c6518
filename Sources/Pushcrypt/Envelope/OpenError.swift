/// An error for a notification that does not open.
///
/// For the developer only: the user sees the fallback, whatever the error. (`Docs/Format.md`, Opening)
public struct OpenError: CodedError {
    /// The kind of error, in the order of the checks.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedNotification = "malformed-notification"
            case notEncrypted = "not-encrypted"
            case malformedEnvelope = "malformed-envelope"
            case unsupportedSuite = "unsupported-suite"
            case unknownRecipientKey = "unknown-recipient-key"
            case authenticationFailed = "authentication-failed"
            case unsupportedMessage = "unsupported-message"
            case wrongPushClass = "wrong-push-class"
            case expired = "expired"
            case notYetValid = "not-yet-valid"
            case malformedPayload = "malformed-payload"
            case duplicate = "duplicate"
        }

        private let known: Known

        /// The received push is not a JSON object. On a phone, the system has parsed it already.
        public static let malformedNotification = Code(known: .malformedNotification)
        /// `ENCRYPTED_DATA` is absent or not a string.
        public static let notEncrypted = Code(known: .notEncrypted)
        /// `ENCRYPTED_DATA` is not an envelope: the text, the length or the bucket is wrong. No cryptography has run.
        public static let malformedEnvelope = Code(known: .malformedEnvelope)
        /// The suite is not supported by this version.
        public static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// Sealed to a key that is not on this device, or that has ended.
        public static let unknownRecipientKey = Code(known: .unknownRecipientKey)
        /// Not sealed by a pinned provider for this device and topic, or changed on the way.
        public static let authenticationFailed = Code(known: .authenticationFailed)
        /// Authentic, but with a push class or times that this version does not support.
        public static let unsupportedMessage = Code(known: .unsupportedMessage)
        /// Authentic, but sealed for another kind of push than the one it arrived in.
        public static let wrongPushClass = Code(known: .wrongPushClass)
        /// Authentic, but its time to live has passed.
        public static let expired = Code(known: .expired)
        /// Authentic, but sent more than 24 hours in the future.
        public static let notYetValid = Code(known: .notYetValid)
        /// Authentic, but the body is not a payload with an `aps` object.
        public static let malformedPayload = Code(known: .malformedPayload)
        /// Authentic, but shown before, and the policy is strict.
        public static let duplicate = Code(known: .duplicate)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `authentication-failed`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The error, its place and its fix, without key or payload bytes.
    public let description: String

    package static let notEncrypted = OpenError(
        .notEncrypted, "ENCRYPTED_DATA is missing or not a string: the push was not sealed")

    package static func unknownRecipientKey(_ id: KeyID) -> OpenError {
        OpenError(
            .unknownRecipientKey,
            "sealed to key \(id), which is not on this device or has ended; have the device register its key again")
    }

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
