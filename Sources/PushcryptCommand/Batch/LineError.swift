internal import Pushcrypt

/// A line of a batch that cannot be answered, for a reason of the line's own. Equal when the codes are equal.
struct LineError: CodedError {
    /// Why a line is not answered.
    struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedLine = "malformed-line"
            case lineTooLong = "line-too-long"
            case reservedKey = "reserved-key"
            case noDevice = "no-device"
            case noKey = "no-key"
            case noTopic = "no-topic"
            case overflowFailed = "overflow-failed"
        }

        private let known: Known

        /// No object, or one whose members are not what a batch takes.
        static let malformedLine = Code(known: .malformedLine)
        /// More bytes than a line may have.
        static let lineTooLong = Code(known: .lineTooLong)
        /// A member that is passed through has the name of one that is written.
        static let reservedKey = Code(known: .reservedKey)
        /// The user has no devices.
        static let noDevice = Code(known: .noDevice)
        /// The device has no key to seal to.
        static let noKey = Code(known: .noKey)
        /// Neither the line, nor the command line, nor a key says which app it is for.
        static let noTopic = Code(known: .noTopic)
        /// The file of a body that is too long cannot be written.
        static let overflowFailed = Code(known: .overflowFailed)

        static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        var description: String { known.rawValue }
    }

    let code: Code
    /// What to do about it; never holds payload bytes.
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
