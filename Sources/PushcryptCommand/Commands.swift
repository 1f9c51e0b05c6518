internal import Pushcrypt
internal import PushcryptCommandKit

extension CommandTable {
    /// The version of this program, and its day; there is no second place.
    static let programVersion = "0.1.0"
    private static let programDate = "November 21, 2026"

    /// The commands of `pushcrypt`.
    static let pushcrypt = CommandTable(
        program: "pushcrypt",
        version: "pushcrypt \(programVersion) (libsodium \(Sodium.version))",
        date: programDate,
        summary: "end-to-end encrypted push notifications",
        sharedOptions: [.store, .json],
        sections: [
            Section(title: "notifications", commands: [.seal, .open, .preview, .inspect, .attach]),
            Section(title: "keys", commands: [.`init`, .keygen, .export, .key, .device, .sender, .rotate]),
            Section(
                title: "more",
                commands: [.demo, .scaffold, .lint, .explain, .doctor, .config, .completions, .manual, .help]),
        ],
        hidden: [.complete],
        examples: [
            Example("pushcrypt demo", "see the main job done, step by step"),
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json", "on a provider's server"),
            Example("pushcrypt open --topic com.example.app sealed.json", "what the phone would show"),
        ],
        environment: [
            Term(name: "PUSHCRYPT_STORE", help: "the key store, where --store does not name one"),
            Term(name: "XDG_DATA_HOME", help: "the folder in which the key store 'pushcrypt' lies otherwise"),
            Term(name: "HOME", help: "the key store is .local/share/pushcrypt below it where nothing else names one"),
            Term(name: "TMPDIR", help: "where the demo makes its folder"),
            Term(name: "NO_COLOR", help: "set to anything, it turns colour off"),
            Term(name: "TERM", help: "a terminal that is called dumb gets neither colour nor progress"),
        ],
        files: [
            Term(name: "~/.local/share/pushcrypt", help: "the key store, a folder that only its owner can read"),
            Term(
                name: "store.key",
                help: "in a key store without a passphrase: the key under which its secrets are sealed"),
        ],
        exitCodes: ExitCode.allCases.map { Term(name: "\($0.rawValue)", help: $0.meaning) },
        check: SecretText.refuse,
        configure: { console, invocation in console.messageFormat = (invocation.logFormat ?? .text).messages })
}

extension ExitCode {
    /// One line for people, lower case, no full stop.
    fileprivate var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed, and may succeed later: a full disk, a busy store, a file that cannot be read"
        case .usage: "the command line or the set-up must change first"
        case .refused: "the input is refused, and will be again; for open: the fallback is shown"
        }
    }
}
