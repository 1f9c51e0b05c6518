/// A command: its name, and its implementation or the commands under it.
///
/// A table holds only names and summaries. Options, operands and help texts are built for the command that a command line
/// names, or whose page is printed.
package struct Command: Sendable {
    package let name: String
    /// One line, lower case, no full stop.
    package let summary: String
    private let content: Content

    private enum Content: Sendable {
        case body(any CommandBody.Type)
        case group(@Sendable () -> CommandGroup)
    }

    /// Creates a command that runs.
    package init(_ name: String, _ summary: String, _ body: any CommandBody.Type) {
        self.name = name
        self.summary = summary
        content = .body(body)
    }

    /// Creates a group of commands, such as `device` for `device add`.
    package init(group name: String, _ summary: String, _ group: @escaping @Sendable () -> CommandGroup) {
        self.name = name
        self.summary = summary
        content = .group(group)
    }

    /// The implementation of the command; nil for a group.
    package var body: (any CommandBody.Type)? {
        if case .body(let body) = content { body } else { nil }
    }

    /// The commands under this name; empty for a command that runs.
    package var subcommands: [Command] {
        if case .group(let group) = content { group().commands } else { [] }
    }

    /// The content of the command's help.
    package func details(in table: CommandTable) -> CommandDetails {
        switch content {
        case .body(let body):
            CommandDetails(page: body.page, declarations: Arguments.declarations(of: body, in: table))
        case .group(let group): CommandDetails(group())
        }
    }
}

/// The implementation of a command, with its values from the command line.
package protocol CommandBody: Sendable {
    /// The texts of the command's page.
    static var page: CommandPage { get }

    /// Declares the command's options and operands in the order of its page, and reads their values.
    init(_ arguments: inout Arguments)

    /// Adjusts the console before the command runs, and before its failure is reported.
    func configure(_ console: inout Console)

    func run(_ console: Console) throws -> ExitCode
}

extension CommandBody {
    package func configure(_ console: inout Console) {}
}

/// The texts of a command's page that are not in its declarations.
package struct CommandPage: Sendable {
    /// The paragraphs after the summary.
    package let discussion: [String]
    /// The paragraphs that only `--help all` and the manual show.
    package let more: [String]
    package let examples: [Example]

    package init(discussion: [String] = [], more: [String] = [], examples: [Example]) {
        self.discussion = discussion
        self.more = more
        self.examples = examples
    }
}

/// Commands under one name.
package struct CommandGroup: Sendable {
    package let page: CommandPage
    package let commands: [Command]

    package init(discussion: [String] = [], examples: [Example] = [], commands: [Command]) {
        page = CommandPage(discussion: discussion, examples: examples)
        self.commands = commands
    }
}

/// The content of a command's help without its name and summary.
package struct CommandDetails: Sendable {
    package let discussion: [String]
    /// The paragraphs that only `--help all` and the manual show.
    package let more: [String]
    package let examples: [Example]
    package let operands: [Operand]
    package let options: [Option]
    package let subcommands: [Command]

    /// The options without those that every command has.
    var ownOptions: [Option] { options.filter { $0.name != Option.quiet.name } }

    /// Whether the command itself has options that may be left out.
    var takesOptions: Bool { ownOptions.contains { !$0.isRequired } }

    init(page: CommandPage, declarations: Declarations) {
        discussion = page.discussion
        more = page.more
        examples = page.examples
        operands = declarations.operands
        options = declarations.options
        subcommands = []
    }

    init(_ group: CommandGroup) {
        discussion = group.page.discussion
        more = []
        examples = group.page.examples
        operands = []
        options = []
        subcommands = group.commands
    }
}

/// A command line that shows how to use a command.
package struct Example: Sendable {
    package let line: String
    /// The effect of the line, if it is not obvious.
    package let comment: String?

    package init(_ line: String, _ comment: String? = nil) {
        self.line = line
        self.comment = comment
    }
}
