/// An error of pairing a phone with a server. (`Docs/FormatRecords.md`, Pairing)
package struct PairingError: CodedError {
    /// The reason.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        /// Not a code, or one whose address a phone must not post to.
        case malformedCode = "malformed-pairing-code"
        /// No open code has this id, or the request was made with another.
        case unknown = "unknown-pairing"
        /// The reply was changed, or is to another request.
        case badReply = "bad-pairing-reply"
        /// The reply names another provider key than the code.
        case wrongProvider = "wrong-provider"

        package var description: String { rawValue }
    }

    package let code: Code
    /// The fault and the fix; contains no secret.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
