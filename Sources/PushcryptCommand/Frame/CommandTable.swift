/// Everything the program answers to, and the one source of parsing and help.
struct CommandTable: Sendable {
    let program: String
    let version: String
    let summary: String
    /// Options that may also stand before the command, for the commands that list them.
    let sharedOptions: [Option]
    let sections: [Section]
    let examples: [Example]

    /// Commands that are listed together.
    struct Section: Sendable {
        let title: String
        let commands: [Command]
    }

    /// All commands, in the order of the sections.
    var commands: [Command] { sections.flatMap(\.commands) }

    /// The command at a path, and nil where the path leaves the table.
    func command(at path: [String]) -> Command? {
        var found: Command?
        for name in path {
            guard let next = (found?.subcommands ?? commands).first(where: { $0.name == name }) else { return nil }
            found = next
        }
        return found
    }
}

extension Option {
    static let help = Option(flag: "--help", short: "-h", help: "show this help")
    static let version = Option(flag: "--version", help: "show the versions of this program and of libsodium")

    static let store = Option(
        "--store", "DIR",
        help: "the key store; otherwise PUSHCRYPT_STORE, otherwise the user's data directory")
    static let json = Option(flag: "--json", help: "write JSON, for programs")
    static let output = Option(
        "--output", short: "-o", "FILE", help: "write to a file that appears only after success")
    static let force = Option(flag: "--force", help: "replace the output file if it exists")
}
