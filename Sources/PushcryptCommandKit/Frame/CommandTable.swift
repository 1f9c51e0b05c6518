/// Everything the program answers to, and the one source of parsing and help.
package struct CommandTable: Sendable {
    package let program: String
    package let version: String
    /// When this version was made, as manual pages say it: `November 21, 2026`.
    package let date: String
    package let summary: String
    /// Options that may also stand before the command, for the commands that list them.
    package let sharedOptions: [Option]
    package let sections: [Section]
    /// Commands for programs, which nobody is told of.
    package let hidden: [Command]
    package let examples: [Example]
    /// The variables that are read.
    package let environment: [Term]
    package let files: [Term]
    package let exitCodes: [Term]
    /// Refuses arguments that no message may repeat, before they are parsed.
    package let check: @Sendable ([String]) throws(CommandFailure) -> Void
    /// Adjusts the console to the options of a command.
    package let configure: @Sendable (inout Console, Invocation) -> Void

    package init(
        program: String, version: String, date: String, summary: String, sharedOptions: [Option], sections: [Section],
        hidden: [Command] = [], examples: [Example], environment: [Term], files: [Term], exitCodes: [Term],
        check: @escaping @Sendable ([String]) throws(CommandFailure) -> Void,
        configure: @escaping @Sendable (inout Console, Invocation) -> Void
    ) {
        self.program = program
        self.version = version
        self.date = date
        self.summary = summary
        self.sharedOptions = sharedOptions
        self.sections = sections
        self.hidden = hidden
        self.examples = examples
        self.environment = environment
        self.files = files
        self.exitCodes = exitCodes
        self.check = check
        self.configure = configure
    }

    /// A name of the world around, and what it is for.
    package struct Term: Sendable {
        package let name: String
        package let help: String

        package init(name: String, help: String) {
            self.name = name
            self.help = help
        }
    }

    /// Commands that are listed together.
    package struct Section: Sendable {
        package let title: String
        package let commands: [Command]

        package init(title: String, commands: [Command]) {
            self.title = title
            self.commands = commands
        }
    }

    /// All commands, in the order of the sections.
    package var commands: [Command] { sections.flatMap(\.commands) }

    /// The path of every command, each before those under it.
    package var paths: [[String]] {
        func paths(of commands: [Command], under path: [String]) -> [[String]] {
            commands.flatMap { [path + [$0.name]] + paths(of: $0.subcommands, under: path + [$0.name]) }
        }
        return paths(of: commands, under: [])
    }

    /// The command at a path, and nil where the path leaves the table.
    package func command(at path: [String]) -> Command? {
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
    package static let help = Option(flag: "--help", short: "-h", help: "show this help")
    package static let version = Option(flag: "--version", help: "show the versions of this program and its libraries")

    package static let json = Option(flag: "--json", help: "write JSON, for programs")
    package static let output = Option(
        "--output", short: "-o", "FILE", .file, help: "write to a file that appears only after success")
    package static let force = Option(flag: "--force", help: "replace the output file if it exists")
}
