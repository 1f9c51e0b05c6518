internal import PushcryptKeyStore

/// How the process ends.
///
/// A script keeps what it has after 1, and gives it up after 65: that is why a full disk or a busy store is no 65.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    /// Something could not be done: a file, the store, the system.
    case failed = 1
    /// The command line makes no sense, or the store is not set up for it (`EX_USAGE`).
    case usage = 64
    /// What was read was refused (`EX_DATAERR`).
    case refused = 65

    /// One line for people, lower case, no full stop.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed, and may succeed later: a full disk, a busy store, a file that cannot be read"
        case .usage: "the command line or the set-up must change first"
        case .refused: "the input is refused, and will be again; for open: the fallback is shown"
        }
    }
}

/// Why a command ended early: one sentence for the person, and what to do next.
///
/// The text is lower case without a full stop, and holds no key and no payload bytes. Failures are text on standard
/// error in every mode, `--json` included: standard output is data only, and the exit code is for programs.
struct CommandFailure: Error {
    let exit: ExitCode
    let message: String
    let hints: [String]
    /// What the key store said, when it is the reason.
    let storeError: KeyStoreError?

    init(_ exit: ExitCode, _ message: String, hints: [String] = [], storeError: KeyStoreError? = nil) {
        self.exit = exit
        self.message = message
        self.hints = hints
        self.storeError = storeError
    }

    static func usage(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.usage, message, hints: hint)
    }

    static func secretInArguments(hint: String...) -> CommandFailure {
        CommandFailure(
            .usage, "a secret key is never an argument: other users and the shell's history see it",
            hints: ["keep it in a file or pipe it in; this key should be replaced"] + hint)
    }

    static func failed(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.failed, message, hints: hint)
    }

    static func refused(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.refused, message, hints: hint)
    }

    /// The reader of standard output has all it wants: an end without a word, and no failure.
    static let readerIsGone = CommandFailure(.done, "")
}
