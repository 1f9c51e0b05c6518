internal import Pushcrypt

/// Why one message of a batch was refused, whoever has refused it.
struct LineFailure: Error {
    let code: String
    let message: String

    static let lineTooLong = LineFailure(.lineTooLong, "a line has at most \(BatchLine.maximumLength) bytes")

    static let noKey = LineFailure(
        .noKey, "the device has no key to seal to: have it register, or let its pushes pass with --unencrypted pass")

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: some CodedError) { self.init(coded: error) }

    private init(coded error: some CodedError) {
        self.init(code: error.code.description, message: error.description)
    }

    init(_ error: SealError) {
        if let signing = error.signing {
            self.init(signing)
        } else {
            self.init(coded: error)
        }
    }

    init(_ code: LineError.Code, _ message: String) {
        self.init(LineError(code, message))
    }

    /// The members that an answer has for a failure.
    static let members: Set = ["error", "line"]

    /// Writes the members `error` and `line`.
    func write(line number: Int, to json: inout JSONWriter) {
        json.object(for: "error") { json in
            json.string(code, for: "code")
            json.string(SecretText.removed(from: message), for: "message")
        }
        json.integer(number, for: "line")
    }

    /// Whether these members are such as `write` writes, and have not only the names.
    static func hasWritten(_ passed: [JSONMember]) -> Bool {
        guard let error = passed.first(where: { $0.name == "error" })?.value,
            passed.first(where: { $0.name == "line" })?.value.integer != nil
        else { return false }
        let members = error.members
        return members.map(\.name) == ["code", "message"] && members.allSatisfy { $0.value.kind == .string }
    }
}
