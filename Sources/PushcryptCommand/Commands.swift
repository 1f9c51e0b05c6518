internal import Pushcrypt
package import PushcryptCommandKit

extension CommandTable {
    /// The version of this program; appears nowhere else.
    package static let programVersion = "1.0.0-beta.1"
    private static let programDate = "November 21, 2026"

    static let pushcrypt = CommandTable(
        program: "pushcrypt",
        summary: "end-to-end encrypted push notifications",
        sections: [
            Section(
                title: "notifications",
                commands: [
                    Command("seal", "seal the content of an APNs payload", SealCommand.self),
                    Command("send", "send sealed payloads to APNs, and say what it answers", SendCommand.self),
                    Command("open", "open a sealed payload, and show the notification", OpenCommand.self),
                    Command(
                        "preview", "draw a notification: as the relay sees it, as the phone shows it, and the fallback",
                        PreviewCommand.self),
                    Command("inspect", "show what the relay can read of a sealed payload", InspectCommand.self),
                    .attach,
                ]),
            Section(
                title: "keys",
                commands: [
                    Command("init", "create a key store", InitCommand.self), .key, .device, .provider,
                    Command("backup", "copy the key store while it is in use", BackupCommand.self),
                    Command("restore", "replace the key store with a backup", RestoreCommand.self),
                ]),
            Section(
                title: "more",
                commands: [
                    Command(
                        "demo", "show the main job step by step, with temporary stores",
                        DemoCommand.self),
                    .scaffold,
                    Command("lint", "find mistakes in a push, or in an app's project", LintCommand.self),
                    Command("explain", "explain a code or a phone's journal, and how to fix it", ExplainCommand.self),
                    Command("doctor", "find what is wrong, and say how to fix it", DoctorCommand.self),
                    Command(
                        "config", "show or change the store's defaults, which options override", ConfigCommand.self),
                    Command(
                        "completions", "print the script that completes this program in a shell",
                        CompletionsCommand.self),
                    Command("man", "print a page of the manual, or write all of them", ManualCommand.self),
                    Command("help", "show how a command is used", HelpCommand.self),
                ]),
        ],
        hidden: [Command("complete", "list the completions at the cursor of a command line", CompleteCommand.self)],
        version: {
            let suite = CipherSuite.xwing.isSupported ? ", post-quantum" : ""
            return "pushcrypt \(programVersion) (libsodium \(Sodium.version)\(suite))"
        },
        page: programPage,
        sharedOptions: { arguments in
            _ = arguments.storePath()
            _ = arguments.json()
        },
        check: SecretText.refuse)

    @Sendable private static func programPage() -> ProgramPage {
        ProgramPage(
            date: programDate,
            examples: [
                Example("pushcrypt demo", "the main job, step by step"),
                Example("pushcrypt seal --to phone1 --topic com.example.app payload.json", "on a provider's server"),
                Example("pushcrypt open --topic com.example.app sealed.json", "the notification that the phone shows"),
            ],
            environment: [
                .init(name: "PUSHCRYPT_STORE", help: "the key store, if --store does not name one"),
                .init(name: "XDG_DATA_HOME", help: "otherwise, the folder of the key store 'pushcrypt'"),
                .init(name: "HOME", help: "otherwise, the key store is .local/share/pushcrypt below it"),
                .init(name: "TMPDIR", help: "the place for the demo's folder"),
                .init(name: "NO_COLOR", help: "turns colour off unless it is empty"),
                .init(name: "TERM", help: "a terminal called dumb gets neither colour nor progress"),
            ],
            files: [
                .init(name: "~/.local/share/pushcrypt", help: "the key store, a folder that only its owner can read"),
                .init(
                    name: "store.key",
                    help: "in a key store without a passphrase: the key under which its secrets are sealed"),
            ],
            exitCodes: ExitCode.allCases.map { .init(name: "\($0.rawValue)", help: $0.meaning) })
    }
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
