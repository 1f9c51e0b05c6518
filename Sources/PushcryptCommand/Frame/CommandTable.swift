/// Everything the program answers to, and the one source of parsing and help.
struct CommandTable: Sendable {
    let program: String
    let version: String
    /// When this version was made, as manual pages say it: `November 21, 2026`.
    let date: String
    let summary: String
    /// Options that may also stand before the command, for the commands that list them.
    let sharedOptions: [Option]
    let sections: [Section]
    /// Commands for programs, which nobody is told of.
    let hidden: [Command]
    let examples: [Example]
    /// The variables that are read.
    let environment: [Term]
    let files: [Term]

    /// A name of the world around, and what it is for.
    struct Term: Sendable {
        let name: String
        let help: String
    }

    /// Commands that are listed together.
    struct Section: Sendable {
        let title: String
        let commands: [Command]
    }

    /// All commands, in the order of the sections.
    var commands: [Command] { sections.flatMap(\.commands) }

    /// The path of every command, each before those under it.
    var paths: [[String]] {
        func paths(of commands: [Command], under path: [String]) -> [[String]] {
            commands.flatMap { [path + [$0.name]] + paths(of: $0.subcommands, under: path + [$0.name]) }
        }
        return paths(of: commands, under: [])
    }

    /// The command at a path, and nil where the path leaves the table.
    func command(at path: [String]) -> Command? {
        var found: Command?
        for name in path {
            guard let next = (found?.subcommands ?? commands + hidden).first(where: { $0.name == name }) else {
                return nil
            }
            found = next
        }
        return found
    }
}

extension Option {
    static let help = Option(flag: "--help", short: "-h", help: "show this help")
    static let version = Option(flag: "--version", help: "show the versions of this program and of libsodium")

    static let store = Option(
        "--store", "DIR", .folder,
        help: "the key store; otherwise PUSHCRYPT_STORE, otherwise the user's data directory")
    static let json = Option(flag: "--json", help: "write JSON, for programs")
    static let output = Option(
        "--output", short: "-o", "FILE", .file, help: "write to a file that appears only after success")
    static let force = Option(flag: "--force", help: "replace the output file if it exists")
}
