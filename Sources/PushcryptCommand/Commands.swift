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
        sections: [Section(title: "more", commands: [.help])],
        examples: [])
}
