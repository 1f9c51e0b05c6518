/// An error for an attachment that cannot be sealed, referred to or opened.
///
/// A receiver drops the attachment and still shows the text. (`Docs/FormatFiles.md`)
public struct AttachmentError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `wrong-hash`.
        public let description: String

        init(_ code: String) { description = code }

        /// A reference is not a JSON object of its kind, or a member breaks a rule.
        package static let malformedReference = Code("malformed-reference")
        /// A notification has more than 8 attachments; this is one of the rest.
        package static let tooMany = Code("too-many-attachments")
        /// The body is too long even for a sealed file.
        package static let bodyTooLong = Code("body-too-long")
        /// The plain file changed between the two passes.
        package static let changedFile = Code("changed-file")
        /// The file does not begin like a sealed file, or has a chunk length that this version does not support.
        package static let notSealed = Code("not-a-sealed-file")
        /// The file is longer or shorter than its reference states.
        package static let wrongSize = Code("wrong-size")
        /// The file is not the one that its reference names.
        package static let wrongHash = Code("wrong-hash")
        /// A chunk was not sealed under this key, or was changed or moved.
        package static let authenticationFailed = Code("authentication-failed")
        /// The file of a full body is not text.
        package static let malformedFile = Code("malformed-file")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedReference, .tooMany, .bodyTooLong, .changedFile, .notSealed, .wrongSize, .wrongHash,
            .authenticationFailed, .malformedFile,
        ]
    }

    /// The kind of error.
    public let code: Code
    /// The error, its place and its fix, without key bytes or content.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
