/// An attachment that cannot be sealed, named or opened. Equal when the codes are equal.
///
/// A receiver drops the attachment and still shows the text. (`Docs/Format.md`, Attachments)
public struct AttachmentError: CodedError {
    /// What is wrong with an attachment.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
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
            case truncatedFile = "truncated-file"
        }

        private let known: Known

        /// A reference is not the object that it should be, or one of its members breaks a rule.
        public static let malformedReference = Code(known: .malformedReference)
        /// Beyond the 8 attachments that a notification may have.
        public static let tooMany = Code(known: .tooMany)
        /// A body that is too long for a sealed file, too.
        public static let bodyTooLong = Code(known: .bodyTooLong)
        /// The plain file was another one in the second pass than in the first.
        public static let changedFile = Code(known: .changedFile)
        /// The file does not begin as a sealed file does, or its chunks are of a length that this version does not know.
        public static let notSealed = Code(known: .notSealed)
        /// The file is longer or shorter than its reference says.
        public static let wrongSize = Code(known: .wrongSize)
        /// The file is not the one that its reference means.
        public static let wrongHash = Code(known: .wrongHash)
        /// A chunk was not sealed under this key, was changed, or does not stand where it was sealed.
        public static let authenticationFailed = Code(known: .authenticationFailed)
        /// Sealed under this key, but against the rules of the format.
        public static let malformedFile = Code(known: .malformedFile)
        /// The end of the file is missing, and its reference was made without it.
        public static let truncatedFile = Code(known: .truncatedFile)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `wrong-hash`.
        public var description: String { known.rawValue }
    }

    /// What is wrong.
    public let code: Code
    /// Where, and what to do; never holds key bytes or content.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
