/// An error for an attachment that cannot be sealed, referred to or opened.
///
/// A receiver drops the attachment and still shows the text. (`Docs/FormatFiles.md`)
public struct AttachmentError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedReference = "malformed-reference"
            case tooMany = "too-many-attachments"
            case bodyTooLong = "body-too-long"
            case changedFile = "changed-file"
            case notSealed = "not-a-sealed-file"
            case wrongSize = "wrong-size"
            case wrongHash = "wrong-hash"
            case authenticationFailed = "authentication-failed"
            case malformedFile = "malformed-file"
        }

        private let known: Known

        /// A reference is not a JSON object of its kind, or a member breaks a rule.
        public static let malformedReference = Code(known: .malformedReference)
        /// A notification has more than 8 attachments; this is one of the rest.
        public static let tooMany = Code(known: .tooMany)
        /// The body is too long even for a sealed file.
        public static let bodyTooLong = Code(known: .bodyTooLong)
        /// The plain file changed between the two passes.
        public static let changedFile = Code(known: .changedFile)
        /// The file does not begin like a sealed file, or has a chunk length that this version does not support.
        public static let notSealed = Code(known: .notSealed)
        /// The file is longer or shorter than its reference states.
        public static let wrongSize = Code(known: .wrongSize)
        /// The file is not the one that its reference names.
        public static let wrongHash = Code(known: .wrongHash)
        /// A chunk was not sealed under this key, or was changed or moved.
        public static let authenticationFailed = Code(known: .authenticationFailed)
        /// The file of a full body is not text.
        public static let malformedFile = Code(known: .malformedFile)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `wrong-hash`.
        public var description: String { known.rawValue }
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
