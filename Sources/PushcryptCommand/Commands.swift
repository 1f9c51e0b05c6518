internal import Pushcrypt
internal import PushcryptCommandKit

extension CommandTable {
    static let pushcrypt = CommandTable(
        program: "pushcrypt",
        summary: "end-to-end encrypted push notifications",
        sections: [
            Section(
                title: "notifications",
                commands: [
                    .seal,
                    .send { try $0.runSender($1) },
                    .open,
                    .preview,
                    .inspect,
                    .attach, .answer,
                ]),
            Section(
                title: "keys",
                commands: [
                    .initStore, .key, .device, .provider,
                    .backup,
                    .restore,
                ]),
            Section(
                title: "more",
                commands: [
                    .demo,
                    .scaffold,
                    .lint,
                    .explain,
                    .doctor { try $0.check($1) },
                    .config,
                    .completions,
                    .help,
                ]),
        ],
        topics: [advanced],
        version: {
            let suite = CipherSuite.xwing.isSupported ? ", post-quantum" : ""
            return "pushcrypt \(programVersion) (libsodium \(Sodium.version)\(suite))"
        },
        page: programPage,
        sharedOptions: { arguments in
            _ = arguments.storePath()
            _ = arguments.json()
        },
        check: SecretText.refuse, failure: { Failure($0) }, jsonMessages: LogFormat.json.messages)

    /// The words that nobody needs in the first hour.
    private static let advanced = Topic("advanced", "the words that you need only later") {
        [
            .init(
                name: "suite",
                help: "the kind of a device key: 1 is X25519; 2 adds a key that a quantum computer does not break"),
            .init(
                name: "generation",
                help: "counts a device's keys: a provider refuses a record of a lower one, which is an old copy"),
            .init(
                name: "epoch",
                help:
                    "counts a provider's signing keys. 'key rotate' begins the next one; the provider key, which phones have pinned, stays"
            ),
            .init(
                name: "certificate",
                help:
                    "the provider key's statement that a signing key of an epoch speaks for it; it travels in each push"
            ),
            .init(
                name: "signer",
                help:
                    "a program that has a provider key, mostly in a key service, and signs certificates: '--provider-signer'"
            ),
            .init(
                name: "bucket", help: "one of a few sizes that sealed messages have, so that their length tells little"),
            .init(
                name: "format",
                help: "how other programs write keys: jwk, pem and raw, for 'key import' and 'key export'"),
            .init(
                name: "relay",
                help: "who carries pushes from provider to phone: Apple, and perhaps the app's publisher"),
            .init(name: "fallback", help: "what a phone shows of a push that it cannot open"),
        ]
    }

    @Sendable private static func programPage() -> ProgramPage {
        ProgramPage(
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
                    name: "share/doc/pushcrypt/Docs",
                    help:
                        "below the folder of the installation: the documents that help pages name, such as Docs/Send.md"
                ),
                .init(
                    name: "store.key",
                    help: "in a key store without a passphrase: the key under which its secrets are sealed"),
            ],
            exitCodes: ExitCode.allCases.map { .init(name: "\($0.rawValue)", help: $0.meaning) })
    }
}
