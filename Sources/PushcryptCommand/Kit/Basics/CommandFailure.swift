/// The exit code of the process.
///
/// A script retries after 1 and gives up after 65, so a full disk or a busy store is not 65.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    /// The work failed for a reason outside the input: a file, the system.
    case failed = 1
    /// The command line or the set-up is wrong (`EX_USAGE`).
    case usage = 64
    /// The input was refused (`EX_DATAERR`).
    case refused = 65
}

/// The reason why a command failed, and what the user can do next.
///
/// The text is lower case without a full stop, and contains no key and no payload bytes. Failures go to standard error, also
/// with `--json`: standard output has only data, and programs use the exit code.
package struct CommandFailure: Error {
    package let exit: ExitCode
    package let message: String
    package let hints: [String]
    /// The error behind the failure, for callers that distinguish causes.
    package let cause: (any Error)?

    package init(_ exit: ExitCode, _ message: String, hints: [String] = [], cause: (any Error)? = nil) {
        self.exit = exit
        self.message = message
        self.hints = hints
        self.cause = cause
    }

    package static func usage(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.usage, message, hints: hint)
    }

    package static func failed(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.failed, message, hints: hint)
    }

    package static func refused(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.refused, message, hints: hint)
    }

    /// The reader of standard output has closed it. The command ends without a message, and this is not a failure.
    package static let readerIsGone = CommandFailure(.done, "")
}

/// The program's name, in messages and in the names of temporary files.
package let programName = "pushcrypt"
