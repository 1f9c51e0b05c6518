/// The arguments of a command: each declaration takes its values out of the command line.
///
/// Options come first, operands last: the words that no option has taken. No declaration throws; `finish` throws the first
/// mistake, or names a word that nobody took.
package struct Arguments {
    package let table: CommandTable
    package private(set) var options: [Option] = []
    package private(set) var operands: [Operand] = []
    /// The form of messages, if an option chose one.
    package var messageFormat: MessageFormat?
    private(set) var isQuiet = false
    /// The words of the command.
    let path: [String]
    /// The words that nothing has taken yet.
    private var words: [Word]
    /// The values given, in the order of the declarations; a flag's value is empty.
    private(set) var taken: [(name: String, values: [String])] = []
    /// False while only declarations are wanted.
    private let isReading: Bool
    /// The arguments that read standard input.
    private var readers: [String] = []
    private var mistake: (rank: Rank, failure: Failure)?
    /// The group of the options that are declared next.
    private var group: String?
    private var isAdvanced = false

    /// A word of the command line behind the command, or an option before it.
    struct Word {
        enum Place { case option, word, afterOptions }

        let text: String
        let place: Place
        let isBeforeCommand: Bool
    }

    /// Which of two mistakes is reported.
    private enum Rank: Int { case value, unknown, missing, operand, input, rule }

    /// Arguments that are only declared.
    init(_ table: CommandTable) {
        (self.table, path, words, isReading) = (table, [], [], false)
    }

    /// Arguments of a command line.
    init(_ table: CommandTable, _ path: [String], _ words: [Word]) {
        (self.table, self.path, self.words, isReading) = (table, path, words, true)
    }

    private mutating func refuse(_ rank: Rank, _ failure: Failure) {
        guard isReading, mistake.map({ $0.rank.rawValue > rank.rawValue }) ?? true else { return }
        mistake = (rank, failure)
    }

    /// Throws the mistake of the command line that matters most.
    mutating func finish() throws(Failure) {
        if let word = words.first(where: { $0.place == .option }) {
            refuse(.unknown, unknown(word))
        } else if let word = words.first {
            refuse(.operand, .usage("unexpected argument \(quoted(word.text))", hint: usage))
        }
        if readers.count > 1 {
            refuse(
                .input,
                .usage(
                    "\(readers[0]) and \(readers[1]) cannot both be read from standard input",
                    hint: "name a file for one of them"))
        }
        if let mistake { throw mistake.failure }
    }

    private func unknown(_ word: Word) -> Failure {
        let (name, command) = (splitOption(word.text).name, ([table.program] + path).joined(separator: " "))
        if word.isBeforeCommand {
            return .usage("\(command) has no option \(name)", hint: "\(command) --help lists its options")
        }
        return .unknownOption(name, among: options + [.help], hint: "\(command) --help lists the options")
    }

    private var usage: String { "usage: \(HelpPage(table: table, path: path).synopsis)" }

    /// The names of the options in `declare` that were given, in the order of their declaration.
    package mutating func given<R>(_ declare: (inout Arguments) -> R) -> (values: R, names: [String]) {
        let start = taken.count
        let values = declare(&self)
        return (values, taken[start...].map(\.name))
    }

    /// Begins a group of options, which help lists together; nil is for those that belong nowhere, which come last.
    ///
    /// - Parameter isAdvanced: Whether only `--help all` and the manual list it.
    package mutating func group(_ title: String?, isAdvanced: Bool = false) {
        (group, self.isAdvanced) = (title, isAdvanced)
    }

    /// `--quiet`, which every command has.
    mutating func takeQuiet() {
        group(nil)
        isQuiet = !take(.quiet).isEmpty
    }

    mutating func take(_ option: Option) -> [String] {
        precondition(operands.isEmpty || option.value == nil, "\(option.name) is declared after an operand")
        var option = option
        (option.group, option.isAdvanced) = (group, isAdvanced)
        options.append(option)
        var values: [String] = []
        var index = 0
        while index < words.count {
            let (name, inline) = splitOption(words[index].text)
            guard words[index].place == .option, name == option.name || name == option.short else {
                index += 1
                continue
            }
            words.remove(at: index)
            guard let kind = option.value?.kind else {
                if inline != nil { refuse(.value, .usage("\(option.name) takes no value")) }
                values.append("")
                continue
            }
            if !values.isEmpty, !option.isRepeatable { refuse(.value, .usage("\(option.name) is given twice")) }
            let next = index < words.count ? words[index].place : .afterOptions
            let text = inline ?? (next == .word ? words.remove(at: index).text : "")
            if text.isEmpty {
                refuse(.value, .missingValue(of: option, isDashed: inline == nil && next == .option))
            } else {
                check(text, kind, option.name, .value)
            }
            values.append(text)
        }
        if !values.isEmpty { taken.append((option.name, values)) }
        if values.isEmpty, option.isRequired {
            refuse(.missing, .usage("\(option.synopsis) is missing", hint: isReading ? usage : ""))
        }
        return values
    }

    mutating func take(_ operand: Operand) -> [String] {
        operands.append(operand)
        let isOne = operand.count == .one || operand.count == .optional
        var values: [String] = []
        while let index = words.firstIndex(where: { $0.place != .option }), !(isOne && !values.isEmpty) {
            let text = words.remove(at: index).text
            if text.isEmpty { refuse(.operand, .usage("\(operand.name) is empty", hint: usage)) }
            check(text, operand.kind, operand.name, .operand)
            values.append(text)
        }
        if !values.isEmpty {
            taken.append((operand.name, values))
        } else if operand.count == .one || operand.count == .atLeastOne {
            refuse(.operand, .usage("\(operand.name) is missing", hint: isReading ? usage : ""))
        } else if operand.count == .optional, operand.kind.readsStandardInput("-") {
            readers.append(operand.name)
        }
        return values
    }

    private mutating func check(_ text: String, _ kind: ValueKind, _ name: String, _ rank: Rank) {
        do {
            try kind.check(text, for: name)
        } catch {
            refuse(rank, error)
        }
        if kind.readsStandardInput(text) { readers.append(name) }
    }
}

/// The name of an option, and the value behind its `=`.
///
/// Compares bytes: Swift joins a combining mark at the start of a value to the character before it.
func splitOption(_ word: String) -> (name: String, value: String?) {
    guard word.utf8.starts(with: "--".utf8), let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
        return (word, nil)
    }
    return (String(word[..<equals]), String(word[word.utf8.index(after: equals)...]))
}

// MARK: Rules

extension Arguments {
    /// Refuses options that exclude each other, which must be declared before.
    package mutating func atMostOne(of names: String...) {
        let given = names.filter(isGiven)
        if given.count > 1 { refuse(.rule, .usage("\(given[0]) and \(given[1]) exclude each other")) }
    }

    /// Refuses the option together with any of the others. All must be declared before.
    package mutating func option(_ name: String, excludes others: [String], hint: String) {
        let other = others.filter(isGiven).first
        if isGiven(name), let other { refuse(.rule, .usage("\(name) and \(other) exclude each other", hint: hint)) }
    }

    /// Refuses the option without the other. Both must be declared before.
    package mutating func option(_ name: String, needs other: String, hint: String? = nil) {
        if isGiven(name) != isGiven(other), isGiven(name) {
            refuse(.rule, Failure(.usage, "\(name) goes with \(other)", hints: hint.map { [$0] } ?? []))
        }
    }

    private func isGiven(_ name: String) -> Bool {
        precondition(options.contains { $0.name == name }, "a rule about an unknown option \(name)")
        return taken.contains { $0.name == name }
    }
}

// MARK: Shared options

extension Arguments {
    /// Declares `--json`.
    package mutating func json() -> Bool { flag("--json", help: "write JSON, for programs") }

    /// Declares `--force`.
    package mutating func force() -> Bool { flag("--force", help: "replace the output file if it exists") }
}

/// `--output` and `--force`: the destination of a command's data.
package struct OutputArguments: Sendable {
    /// The path of a file; `-` or nil is standard output.
    package let path: String?
    package let force: Bool

    package init(_ arguments: inout Arguments, help: String = "write to a file that appears only after success") {
        path = arguments.value("--output", short: "-o", "FILE", .file, help: help)
        force = arguments.force()
    }

    /// The path of the file to write; nil for standard output.
    package var file: String? { path == "-" ? nil : path }
}

extension Console {
    /// Writes a command's data to its `--output`, or to standard output.
    ///
    /// Only its owner can read a file of secrets.
    package func deliver(
        _ bytes: Span<UInt8>, to output: OutputArguments, isSecret: Bool = false
    ) throws(Failure) {
        guard let file = output.file else { return try write(bytes) }
        try OutputFile.write(bytes, to: file, mode: isSecret ? 0o600 : 0o666, force: output.force)
    }

    /// Writes a command's text to its `--output`, or to standard output.
    package func deliver(_ text: String, to output: OutputArguments) throws(Failure) {
        try deliver(ContiguousArray(text.utf8).span, to: output)
    }
}
