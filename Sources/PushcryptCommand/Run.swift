internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Runs `pushcrypt` with the arguments of this process, and ends the process with its exit code.
package func runPushcrypt() -> Never {
    prepareProcess()
    SQLiteKeyStore.prepareProcess()
    endProcess(run(arguments: SystemEnvironment.arguments, table: .pushcrypt, console: .standard).rawValue)
}

extension Console {
    /// The streams, the environment and the clock of this process; no message shows a secret key.
    static var standard: Console { .process(redacting: SecretText.removed) }
}
