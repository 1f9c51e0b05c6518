/// An error for a notification that does not open.
///
/// For the developer only: the user sees the fallback, whatever the error. (`Docs/Format.md`, Opening)
public struct OpenError: CodedError {
    /// The kind of error, in the order of the checks.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `authentication-failed`.
        public let description: String

        init(_ code: String) { description = code }

        /// The received push is not a JSON object. On a phone, the system has parsed it already.
        package static let malformedNotification = Code("malformed-notification")
        /// `ENCRYPTED_DATA` is absent or not a string.
        public static let notEncrypted = Code("not-encrypted")
        /// `ENCRYPTED_DATA` is not an envelope: the text, the length or the bucket is wrong. No cryptography has run.
        package static let malformedEnvelope = Code("malformed-envelope")
        /// The suite is not supported by this version.
        package static let unsupportedSuite = Code("unsupported-suite")
        /// Sealed to a key that is not on this device, or that has ended.
        package static let unknownRecipientKey = Code("unknown-recipient-key")
        /// Not sealed by a pinned provider for this device and topic, or changed on the way.
        public static let authenticationFailed = Code("authentication-failed")
        /// Authentic, but with a push class or times that this version does not support.
        package static let unsupportedMessage = Code("unsupported-message")
        /// Authentic, but sealed for another kind of push than the one it arrived in.
        package static let wrongPushClass = Code("wrong-push-class")
        /// Authentic, but its time to live has passed.
        public static let expired = Code("expired")
        /// Authentic, but sent more than 24 hours in the future.
        package static let notYetValid = Code("not-yet-valid")
        /// Authentic, but the body is not a payload with an `aps` object.
        package static let malformedPayload = Code("malformed-payload")
        /// Authentic, but shown before, and the policy is strict.
        public static let duplicate = Code("duplicate")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedNotification, .notEncrypted, .malformedEnvelope, .unsupportedSuite, .unknownRecipientKey,
            .authenticationFailed, .unsupportedMessage, .wrongPushClass, .expired, .notYetValid, .malformedPayload,
            .duplicate,
        ]
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
