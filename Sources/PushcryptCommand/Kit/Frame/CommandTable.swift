/// The commands of a program: the one source of parsing, help, completions and manual pages.
package struct CommandTable: Sendable {
    package let program: String
    package let summary: String
    package let sections: [Section]
    package let examples: [Example]
    /// The variables that are read, and the files.
    package let environment: KeyValuePairs<String, String>
    package let files: KeyValuePairs<String, String>
    /// The output of `--version`.
    package let version: @Sendable () -> String
    /// Declares the options that may also precede the command, for the commands that have them.
    let declareSharedOptions: @Sendable (inout Arguments) -> Void
    /// Refuses arguments that must not appear in messages, before they are parsed.
    let check: @Sendable ([String]) throws -> Void
    /// Turns an error of the program's own into a failure.
    let failure: @Sendable (any Error) -> Failure
    /// The form of messages on standard error under `--json`.
    let jsonMessages: MessageFormat

    package init(
        program: String, summary: String, sections: [Section], examples: [Example] = [],
        environment: KeyValuePairs<String, String> = [:], files: KeyValuePairs<String, String> = [:],
        version: @escaping @Sendable () -> String,
        sharedOptions: @escaping @Sendable (inout Arguments) -> Void = { _ in },
        check: @escaping @Sendable ([String]) throws -> Void,
        failure: @escaping @Sendable (any Error) -> Failure = { $0 as? Failure ?? .failed("\($0)") },
        jsonMessages: MessageFormat = .text
    ) {
        (self.program, self.summary, self.sections, self.version) = (program, summary, sections, version)
        (self.examples, self.environment, self.files) = (examples, environment, files)
        (declareSharedOptions, self.check, self.failure) = (sharedOptions, check, failure)
        self.jsonMessages = jsonMessages
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

    /// The word after `help` for the exit codes, what its page is about, and the codes.
    package static let exitCodes = (name: "exit-codes", summary: "what the exit codes mean")
    package static var exitCodeTerms: [(term: String, meaning: String)] {
        ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }
    }

    /// All commands, in the order of the sections.
    package var commands: [Command] { sections.flatMap(\.commands) }

    /// The options that may also precede the command.
    package var sharedOptions: [Option] {
        var arguments = Arguments(self)
        declareSharedOptions(&arguments)
        return arguments.options + [.quiet]
    }

    /// The path of every command, before those of the commands under it.
    package var paths: [[String]] {
        func paths(of commands: [Command], under path: [String]) -> [[String]] {
            commands.flatMap { [path + [$0.name]] + paths(of: $0.subcommands, under: path + [$0.name]) }
        }
        return paths(of: commands, under: [])
    }

    /// The command at a path; nil if there is none.
    package func command(at path: [String]) -> Command? {
        var found: Command?
        for name in path {
            guard let next = command(name, under: found) else { return nil }
            found = next
        }
        return found
    }

    /// The command of this name, in the table or under another command.
    func command(_ name: String, under parent: Command?) -> Command? {
        if let parent { return parent.subcommands.first { $0.name == name } }
        for section in sections {
            if let command = section.commands.first(where: { $0.name == name }) { return command }
        }
        return nil
    }
}

/// Runs a command line, without the program's name, and returns its exit code.
///
/// Writes all messages to standard error before it returns, with `--json` as JSON. Call `prepareProcess` first.
package func run(arguments: [String], table: CommandTable, console: Console) -> ExitCode {
    var console = console
    console.arguments = arguments
    // Before the line is understood: a refusal of the line itself is for a program too.
    if arguments.prefix(while: { $0 != "--" }).contains("--json") { console.messageFormat = table.jsonMessages }
    do {
        switch try Parser(table: table).parse(arguments) {
        case .help(let path, let isWhole):
            try console.write(HelpPage(table: table, path: path, isWhole: isWhole).text)
        case .version: try console.write(table.version() + "\n")
        case .command(let action, let arguments):
            if arguments.isQuiet { console.isQuiet = true }
            if let format = arguments.messageFormat { console.messageFormat = format }
            try action(console)
        }
        return .done
    } catch let exit as ExitCode {
        return exit
    } catch {
        let failure = table.failure(error)
        if failure.exit != .done { console.report(failure) }
        return failure.exit
    }
}
