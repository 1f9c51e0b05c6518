internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Runs `pushcrypt` with the arguments of `main`, and ends the process with its exit code.
@_cdecl("pushcrypt_main")
package func pushcryptMain(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
    prepareProcess()
    SQLiteKeyStore.prepareProcess()
    let arguments = unsafe SystemEnvironment.arguments(count, words)
    endProcess(run(arguments: arguments, table: .pushcrypt, console: .standard).rawValue)
}

extension Console {
    /// The streams, the environment and the clock of this process; no message shows a secret key.
    static var standard: Console { .process(redacting: SecretText.removed) }
}
