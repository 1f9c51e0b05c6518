/// The exit code of the process.
///
/// A script retries after 1 and gives up after 65, so a full disk or a busy store is not 65. `meaning` is the one table of
/// all codes.
package enum ExitCode: Int32, Error, CaseIterable {
    case done = 0
    /// The work failed for a reason outside the input: a file, the system.
    case failed = 1
    /// The command line or the set-up is wrong (`EX_USAGE`).
    case usage = 64
    /// The input was refused (`EX_DATAERR`).
    case refused = 65
    /// A signal ended the work, as a shell reports it (128 + SIGINT).
    case interrupted = 130

    /// Ends a command that has written what failed.
    package func end() throws { if self != .done { throw self } }

    /// One line for people, lower case, no full stop.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed, and may succeed later: a full disk, a busy store, a file that cannot be read"
        case .usage: "the command line or the set-up must change first"
        case .refused: "the input is refused, and will be again; for open: the fallback is shown"
        case .interrupted: "interrupted on a terminal, with control-c"
        }
    }

    /// The code of a failure that has no other.
    fileprivate var code: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "usage"
        case .refused: "refused"
        case .interrupted: "interrupted"
        }
    }
}

/// The reason why a command failed, and what the user can do next.
///
/// The text is lower case without a full stop, and contains no key and no payload bytes. Failures go to standard error, with
/// `--json` as JSON: standard output has only data.
package struct Failure: Error {
    package let exit: ExitCode
    /// The fault, in a word for programs.
    package let code: String
    /// The message without the code, for use beside it: in the answer to a line of a batch.
    package let reason: String
    /// The message for people.
    package let message: String
    package let hints: [String]
    /// The error behind the failure, for callers that distinguish causes.
    package let cause: (any Error)?

    /// - Parameters:
    ///   - code: The code of the error behind the failure; without it, the exit code's own word.
    ///   - reason: Without it, the message.
    package init(
        _ exit: ExitCode, code: String? = nil, reason: String? = nil, _ message: String, hints: [String] = [],
        cause: (any Error)? = nil
    ) {
        self.exit = exit
        self.code = code ?? exit.code
        self.reason = reason ?? message
        self.message = message
        self.hints = hints
        self.cause = cause
    }

    package static func usage(_ message: String, hint: String...) -> Failure {
        Failure(.usage, message, hints: hint)
    }

    package static func failed(_ message: String, hint: String...) -> Failure {
        Failure(.failed, message, hints: hint)
    }

    package static func refused(_ message: String, hint: String...) -> Failure {
        Failure(.refused, message, hints: hint)
    }

    /// Returns the same failure with other hints.
    package func advising(_ hints: [String]) -> Failure {
        Failure(exit, code: code, reason: reason, message, hints: hints, cause: cause)
    }

    /// The reader of standard output has closed it. The command ends without a message, and this is not a failure.
    package static let readerIsGone = Failure(.done, "")
}

/// The program's name, in messages and in the names of temporary files.
package let programName = "pushcrypt"
