internal import PushcryptKeyStore

/// How the process ends.
enum ExitCode: Int32 {
    case done = 0
    /// Something could not be done: a file, the store, the system.
    case failed = 1
    /// The command line makes no sense (`EX_USAGE`).
    case usage = 64
    /// What was read was refused (`EX_DATAERR`).
    case refused = 65
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

    static func failed(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.failed, message, hints: hint)
    }

    static func refused(_ message: String, hint: String...) -> CommandFailure {
        CommandFailure(.refused, message, hints: hint)
    }

    /// The reader of standard output has all it wants: an end without a word, and no failure.
    static let readerIsGone = CommandFailure(.done, "")
}
