internal import Pushcrypt
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

extension CommandTable {
    static let pushcrypt = CommandTable(
        program: "pushcrypt",
        summary: "end-to-end encrypted push notifications",
        sections: [
            Section(
                title: "notifications",
                commands: [.seal, .send { try $0.runSender($1) }, .open, .preview, .inspect, .attach, .answer]),
            Section(title: "keys", commands: [.initStore, .key, .device, .provider, .backup, .restore]),
            Section(
                title: "more",
                commands: [
                    .demo, .scaffold, .lint, .explain, .doctor { try $0.check($1) }, .config, .completions, .help,
                ]),
        ],
        examples: [
            Example("pushcrypt demo", "the main job, step by step"),
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json", "on a provider's server"),
            Example("pushcrypt open --topic com.example.app sealed.json", "the notification that the phone shows"),
        ],
        environment: [
            "PUSHCRYPT_STORE": "the key store, if --store does not name one",
            "XDG_DATA_HOME": "otherwise, the folder of the key store 'pushcrypt'",
            "HOME": "otherwise, the key store is .local/share/pushcrypt below it",
            "https_proxy":
                "for 'send', 'answer fetch' and 'doctor --send': an HTTP proxy, http://HOST:PORT, perhaps with USER:PASSWORD@ before the host",
            "TMPDIR": "the place for the demo's folder",
            "NO_COLOR": "turns colour off unless it is empty",
            "TERM": "a terminal called dumb gets neither colour nor progress",
        ],
        files: [
            "~/.local/share/pushcrypt": "the key store, a folder that only its owner can read",
            "share/doc/pushcrypt/Docs":
                "below the folder of the installation: the documents that help pages name, such as Docs/Send.md",
            "store.key": "in a key store without a passphrase: the key under which its secrets are sealed",
        ],
        version: {
            let suite = CipherSuite.xwing.isSupported ? ", post-quantum" : ""
            return "pushcrypt \(programVersion) (libsodium \(Sodium.version)\(suite))"
        },
        sharedOptions: { arguments in
            _ = arguments.storePath()
            _ = arguments.json()
        },
        check: SecretText.refuse, failure: { Failure($0) }, jsonMessages: LogFormat.json.messages)
}
