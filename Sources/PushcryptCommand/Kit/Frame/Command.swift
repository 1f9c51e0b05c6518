/// A command: its texts, and the work it does or the commands under it.
package struct Command: Sendable {
    /// The work of a command, after its arguments were taken. It throws an `ExitCode` if it has written why.
    package typealias Action = (Console) throws -> Void

    package let name: String
    /// One line, lower case, no full stop.
    package let summary: String
    /// The paragraphs after the summary.
    package let about: [String]
    /// The paragraphs that only `--help all` and the manual show.
    package let more: [String]
    package let examples: [Example]
    /// The commands under this name; empty for a command that runs.
    package let subcommands: [Command]
    private let take: (@Sendable (inout Arguments) -> Action)?

    /// Creates a command that runs.
    ///
    /// `take` declares options, then operands, and takes their values. It does the same for every command line, and leaves
    /// all that can fail to the action it returns.
    package init(
        _ name: String, _ summary: String, about: String = "", more: String = "", examples: [Example],
        _ take: @escaping @Sendable (inout Arguments) -> Action
    ) {
        (self.name, self.summary, self.about, self.more) = (name, summary, lines(about), lines(more))
        (self.examples, self.take, subcommands) = (examples, take, [])
    }

    /// Creates a group of commands, such as `device` for `device add`.
    package init(
        group name: String, _ summary: String, about: String = "", examples: [Example] = [], _ commands: [Command]
    ) {
        (self.name, self.summary, self.about, more) = (name, summary, lines(about), [])
        (self.examples, take, subcommands) = (examples, nil, commands)
    }

    package var isGroup: Bool { take == nil }

    /// The options and operands of the command, in the order of its page.
    package func declarations(in table: CommandTable) -> Arguments {
        var arguments = Arguments(table)
        _ = action(&arguments)
        return arguments
    }

    /// Takes the arguments out of a command line; nil for a group.
    func action(_ arguments: inout Arguments) -> Action? {
        guard let action = take?(&arguments) else { return nil }
        arguments.takeQuiet()
        return action
    }
}

/// The paragraphs of a text, one a line.
private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

/// A command line that shows how to use a command.
package struct Example: Sendable, ExpressibleByStringLiteral {
    package let line: String
    /// The effect of the line, if it is not obvious.
    package let comment: String?

    package init(_ line: String, _ comment: String? = nil) {
        self.line = line
        self.comment = comment
    }

    package init(stringLiteral line: String) { self.init(line) }
}
