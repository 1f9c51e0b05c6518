/// One command: everything that parsing and help say about it.
package struct Command: Sendable {
    package let name: String
    /// One line, lower case, no full stop.
    package let summary: String
    /// Paragraphs that say what the summary cannot.
    package let discussion: [String]
    package let operands: [Operand]
    package let options: [Option]
    package let examples: [Example]
    package let action: Action

    /// The work of a command.
    package typealias Run = @Sendable (Invocation, Console) throws(CommandFailure) -> ExitCode

    /// What a command does: its own work, or leaving it to the commands under its name.
    package enum Action: Sendable {
        case run(Run)
        case group([Command])
    }

    /// A command that does something.
    package init(
        _ name: String, _ summary: String, discussion: [String] = [], operands: [Operand] = [],
        options: [Option] = [], examples: [Example], run: @escaping Run
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.operands = operands
        self.options = options
        self.examples = examples
        action = .run(run)
    }

    /// A name that stands before others: `device` in `device add`.
    package init(
        group name: String, _ summary: String, discussion: [String] = [], examples: [Example] = [],
        commands: [Command]
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        operands = []
        options = []
        self.examples = examples
        action = .group(commands)
    }

    /// The commands under this name; empty for a command that runs.
    package var subcommands: [Command] {
        if case .group(let commands) = action { commands } else { [] }
    }
}

/// An argument that is known by its place.
package struct Operand: Sendable {
    /// As it stands in the synopsis: `FILE`.
    package let name: String
    package let help: String
    package let kind: ValueKind
    package let count: Count

    /// How many arguments go here. Optional ones stand after the required ones, repeated ones last.
    package enum Count: Sendable {
        case one, optional, any, atLeastOne
    }

    package init(_ name: String, _ kind: ValueKind = .text, _ count: Count = .one, help: String) {
        self.name = name
        self.kind = kind
        self.count = count
        self.help = help
    }
}

/// An argument that is known by its name.
package struct Option: Sendable {
    /// With its dashes: `--to`.
    package let name: String
    /// With its dash: `-o`.
    package let short: String?
    package let help: String
    /// What the option takes; nil for a flag.
    package let value: Value?
    package let isRepeatable: Bool
    package let isRequired: Bool

    /// The value of an option: its name in the synopsis, and what it may be.
    package struct Value: Sendable {
        package let name: String
        package let kind: ValueKind
    }

    /// An option that is there or not.
    package init(flag name: String, short: String? = nil, help: String) {
        self.name = name
        self.short = short
        self.help = help
        value = nil
        isRepeatable = false
        isRequired = false
    }

    /// An option with a value.
    package init(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text,
        isRepeatable: Bool = false, isRequired: Bool = false, help: String
    ) {
        self.name = name
        self.short = short
        self.help = help
        value = Value(name: valueName, kind: kind)
        self.isRepeatable = isRepeatable
        self.isRequired = isRequired
    }

    /// What a reader is told: the help, and what follows from the kind.
    package var meaning: String {
        var text = help
        if isRepeatable { text += "; may be given several times" }
        if case .choice(let words) = value?.kind { text += " (" + words.joined(separator: ", ") + ")" }
        return text
    }

    /// The option in a synopsis: `--to ID`.
    package var synopsis: String {
        if let value { "\(name) \(value.name)" } else { name }
    }
}

/// What a value may be, checked while the command line is read.
package enum ValueKind: Sendable {
    case text
    /// A file to read; `-`, or nothing where the operand is optional, is standard input.
    case input
    /// Where a secret is read from: a file, `fd:N` or `-`; never the secret itself.
    case secret
    /// A file by its path, to be written or read.
    case file
    case folder
    /// Any text; completion offers the source's names.
    case name(NameSource)
    /// Any text, of which some is known; listed only for a completion.
    case known(@Sendable () -> [String])
    /// A word of a command's name.
    case command
    case choice([String])
    /// A whole number.
    case count(ClosedRange<Int>)
    /// A number with a unit, `30d`; the bounds are in seconds.
    case duration(ClosedRange<Int>)
    /// A short time with a unit, `1500ms` or `2s`; the bounds are in milliseconds.
    case milliseconds(ClosedRange<Int>)

    var isInput: Bool { if case .input = self { true } else { false } }
}

/// Names that only the program knows, offered where a command line is completed.
package struct NameSource: Sendable {
    /// What is named: `device`.
    package let kind: String
    package let names: @Sendable (Request) -> [String]

    package init(_ kind: String, _ names: @escaping @Sendable (Request) -> [String]) {
        self.kind = kind
        self.names = names
    }

    /// A word to complete.
    package struct Request {
        /// The beginning of the names to return.
        package let start: String
        package let console: Console
        /// The last value of an option on the line; nil where it was not given.
        package let value: (_ option: String) -> Given?
    }

    /// A value on the line.
    package enum Given {
        case text(String)
        /// Only the shell knows the value: it contains a variable, a pattern or a command.
        case unknown
    }
}

/// A command line that shows a command at work.
package struct Example: Sendable {
    package let line: String
    /// What the line does, where it does not say so itself.
    package let comment: String?

    package init(_ line: String, _ comment: String? = nil) {
        self.line = line
        self.comment = comment
    }
}
