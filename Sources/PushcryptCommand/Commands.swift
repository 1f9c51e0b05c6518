internal import Pushcrypt

extension CommandTable {
    /// The version of this program; there is no second place.
    static let programVersion = "0.1.0"

    /// The commands of `pushcrypt`.
    static let pushcrypt = CommandTable(
        program: "pushcrypt",
        version: "pushcrypt \(programVersion) (libsodium \(Sodium.version))",
        summary: "end-to-end encrypted push notifications",
        sharedOptions: [.store, .json],
        sections: [
            Section(title: "notifications", commands: [.seal, .open, .inspect, .attach]),
            Section(title: "keys", commands: [.`init`, .keygen, .export, .device, .sender, .rotate]),
            Section(title: "more", commands: [.demo, .scaffold, .lint, .explain, .doctor, .config, .help]),
        ],
        examples: [
            Example("pushcrypt demo", "see the main job done, step by step"),
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json", "on a provider's server"),
            Example("pushcrypt open --topic com.example.app sealed.json", "what the phone would show"),
        ])
}
