/// One command: everything that parsing and help say about it.
struct Command: Sendable {
    let name: String
    /// One line, lower case, no full stop.
    let summary: String
    /// Paragraphs that say what the summary cannot.
    let discussion: [String]
    let operands: [Operand]
    let options: [Option]
    let examples: [Example]
    let action: Action

    /// The work of a command.
    typealias Run = @Sendable (Invocation, Console) throws(CommandFailure) -> ExitCode

    /// What a command does: its own work, or leaving it to the commands under its name.
    enum Action: Sendable {
        case run(Run)
        case group([Command])
    }

    /// A command that does something.
    init(
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
    init(
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
    var subcommands: [Command] {
        if case .group(let commands) = action { commands } else { [] }
    }
}

/// An argument that is known by its place.
struct Operand: Sendable {
    /// As it stands in the synopsis: `FILE`.
    let name: String
    let help: String
    let kind: ValueKind
    let count: Count

    /// How many arguments go here. Optional ones stand after the required ones, repeated ones last.
    enum Count: Sendable {
        case one, optional, any, atLeastOne
    }

    init(_ name: String, _ kind: ValueKind = .text, _ count: Count = .one, help: String) {
        self.name = name
        self.kind = kind
        self.count = count
        self.help = help
    }
}

/// An argument that is known by its name.
struct Option: Sendable {
    /// With its dashes: `--to`.
    let name: String
    /// With its dash: `-o`.
    let short: String?
    let help: String
    /// What the option takes; nil for a flag.
    let value: Value?
    let isRepeatable: Bool
    let isRequired: Bool

    /// The value of an option: its name in the synopsis, and what it may be.
    struct Value: Sendable {
        let name: String
        let kind: ValueKind
    }

    /// An option that is there or not.
    init(flag name: String, short: String? = nil, help: String) {
        self.name = name
        self.short = short
        self.help = help
        value = nil
        isRepeatable = false
        isRequired = false
    }

    /// An option with a value.
    init(
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
    var meaning: String {
        var text = help
        if isRepeatable { text += "; may be given several times" }
        if case .choice(let words) = value?.kind { text += " (" + words.joined(separator: ", ") + ")" }
        return text
    }

    /// The option in a synopsis: `--to ID`.
    var synopsis: String {
        if let value { "\(name) \(value.name)" } else { name }
    }
}

/// What a value may be, checked while the command line is read.
enum ValueKind: Sendable {
    case text
    /// A file to read; `-`, or nothing where the operand is optional, is standard input.
    case input
    /// Where a secret is read from: a file, `fd:N` or `-`; never the secret itself.
    case secret
    /// A file by its path, to be written or read.
    case file
    case folder
    /// What a key store calls something; any text is taken.
    case name(StoredName)
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

/// A command line that shows a command at work.
struct Example: Sendable {
    let line: String
    /// What the line does, where it does not say so itself.
    let comment: String?

    init(_ line: String, _ comment: String? = nil) {
        self.line = line
        self.comment = comment
    }
}
