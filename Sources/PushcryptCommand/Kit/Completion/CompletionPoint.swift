/// The possible words at the cursor.
package struct Completion: Equatable {
    package var candidates: [Candidate] = []
    /// The paths that the shell adds itself.
    package var paths = Paths.none

    package struct Candidate: Equatable {
        /// The whole word, such as `--emit=apns`.
        package let word: String
        /// One line; nil if the word says enough.
        package let help: String?

        package init(_ word: String, _ help: String? = nil) {
            self.word = word
            self.help = help
        }
    }

    package enum Paths: String {
        case none, files, folders
    }
}

/// A position on a command line, found from the words before it. Mistakes in them are ignored where possible.
package struct CompletionPoint {
    private let table: CommandTable
    private var path: [String] = []
    private var command: Command?
    /// The declarations of a command that runs.
    private var declarations: Declarations?
    /// Whether a word is not a command.
    private var isLost = false
    private var takesOptions = true
    /// The option whose value comes next.
    private var open: Option?
    private var given: [(option: Option, value: ShellLine.Word)] = []
    private var operands: [String] = []

    /// - Parameter words: The words without the program's name.
    package init(_ table: CommandTable, after words: some Sequence<ShellLine.Word>) {
        self.table = table
        for word in words { take(word) }
    }

    /// The value that the shell would pass for an option; nil if it was not given.
    package func value(_ name: String) -> ShellLine.Word? { given.last { $0.option.name == name }?.value }

    /// The source's names with this prefix.
    package func names(_ source: NameSource, startingWith start: String, _ console: Console) -> [String] {
        source.names(
            .init(start: start, console: console) { option in
                value(option).map { $0.isLiteral ? .text($0.text) : .unknown }
            })
    }

    /// The candidates with the prefix at the cursor.
    package func completion(of word: ShellLine.Word, names: (NameSource, String) -> [String]) -> Completion {
        guard !isLost, word.isLiteral else { return Completion(paths: paths(for: word)) }
        var all = offers(for: word.text, names)
        all.candidates.removeAll { !$0.word.unicodeScalars.starts(with: word.text.unicodeScalars) }
        return all
    }
}

// MARK: The words before

extension CompletionPoint {
    private var known: [Option] { declarations?.options ?? table.sharedOptions }

    private mutating func take(_ word: ShellLine.Word) {
        let text = word.text
        if let option = open {
            given.append((option, word))
            open = nil
        } else if takesOptions, text == "--" {
            takesOptions = false
        } else if takesOptions, text.hasPrefix("-"), text != "-" {
            takeOption(word)
        } else if declarations != nil {
            operands.append(text)
        } else if let next = table.command(text, under: command) {
            path.append(text)
            command = next
            declarations = next.declarations(in: table)
        } else {
            isLost = true
        }
    }

    private mutating func takeOption(_ word: ShellLine.Word) {
        let (name, value) = split(word.text)
        guard let option = known.first(where: { $0.matches(name) }) else { return }
        if let value {
            var word = word
            word.text = value
            given.append((option, word))
        } else if option.value != nil {
            open = option
        } else {
            given.append((option, word))
        }
    }

    /// Splits `--to=phone1` into its two parts.
    private func split(_ text: String) -> (name: String, value: String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.hasPrefix("--"), parts.count == 2 else { return (text, nil) }
        return (String(parts[0]), String(parts[1]))
    }
}

// MARK: The word at the cursor

extension CompletionPoint {
    private func offers(for text: String, _ names: (NameSource, String) -> [String]) -> Completion {
        if let option = open { return values(of: option.value?.kind, for: text, names) }
        if takesOptions, text.hasPrefix("-"), text != "-" || declarations == nil {
            let (name, value) = split(text)
            guard let value else { return Completion(candidates: options) }
            let option = known.first { $0.matches(name) }
            var completion = values(of: option?.value?.kind, for: value, names)
            completion.candidates = completion.candidates.map { .init("\(name)=\($0.word)", $0.help) }
            return completion
        }
        guard declarations != nil else { return Completion(candidates: commands(under: path)) }
        guard let operand = nextOperand else { return Completion(candidates: takesOptions ? options : []) }
        var completion = values(of: operand.kind, for: text, names)
        // A single dash is the start of an option, and also standard input.
        if takesOptions, text == "-" { completion.candidates += options }
        return completion
    }

    private var nextOperand: Operand? {
        guard let declared = declarations?.operands else { return nil }
        if operands.count < declared.count { return declared[operands.count] }
        guard let last = declared.last, last.count == .any || last.count == .atLeastOne else { return nil }
        return last
    }

    private var options: [Completion.Candidate] {
        let own = known.filter { option in option.isRepeatable || !given.contains { $0.option.name == option.name } }
        return (own + [.help] + (path.isEmpty ? [.version] : [])).map { .init($0.name, $0.help) }
    }

    /// The topics of `help`, instead of a command.
    private var topics: [Completion.Candidate] {
        guard path == ["help"], operands.isEmpty else { return [] }
        return table.allTopics.map { .init($0.name, $0.summary) }
    }

    private func commands(under path: [String]) -> [Completion.Candidate] {
        (path.isEmpty ? table.commands : table.command(at: path)?.subcommands ?? []).map { .init($0.name, $0.summary) }
    }

    private func values(
        of kind: ValueKind?, for text: String, _ names: (NameSource, String) -> [String]
    ) -> Completion {
        switch kind {
        case .choice(let words): Completion(candidates: words.map { .init($0) })
        case .known(let words): Completion(candidates: words().map { .init($0) }, paths: .files)
        case .name(let source): Completion(candidates: names(source, text).map { .init($0) })
        case .command: Completion(candidates: commands(under: operands) + topics)
        default: Completion(paths: paths(of: kind))
        }
    }

    /// The completion if only the shell knows the word.
    private func paths(for word: ShellLine.Word) -> Completion.Paths {
        if isLost { return .none }
        return paths(of: open?.value?.kind ?? nextOperand?.kind)
    }

    private func paths(of kind: ValueKind?) -> Completion.Paths {
        switch kind {
        case .input, .secret, .file: .files
        case .folder: .folders
        default: .none
        }
    }
}
