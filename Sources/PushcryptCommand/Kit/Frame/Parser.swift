/// Finds the command of a command line, and has it take its arguments. Every mistake is exit 64, with a hint.
package struct Parser {
    package let table: CommandTable

    package init(table: CommandTable) { self.table = table }

    /// The request of a command line.
    package enum Request {
        /// The page of a command; whole with `--help all`.
        case help([String], isWhole: Bool)
        case version
        /// A command with its arguments, all of which were taken.
        case command(Command.Action, Arguments)
    }

    /// Parses the arguments, without the program's name.
    package func parse(_ arguments: [String]) throws -> Request {
        try table.check(arguments)
        // Bytes that are not UTF-8 have become this character.
        if let word = arguments.first(where: { $0.unicodeScalars.contains("\u{fffd}") }) {
            throw Failure.usage(
                "an argument is not UTF-8 text: \(quoted(word))", hint: "rename the file, or redirect it")
        }
        // A value in a word of its own cannot begin with a dash, so this finds no value by mistake.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        if let help = arguments[..<end].firstIndex(where: { $0 == Option.help.name || $0 == Option.help.short }) {
            var words = arguments
            let isWhole = help + 1 < end && words[help + 1] == HelpPage.all
            if isWhole { words.remove(at: help + 1) }
            return .help(try helpPath(words), isWhole: isWhole)
        }
        var (rest, path, words) = (arguments[...], [String](), [Arguments.Word]())
        var (command, takesOptions) = (Command?.none, true)
        while let word = rest.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if let command, !command.isGroup {
                let place: Arguments.Word.Place = !takesOptions ? .afterOptions : isOption(word) ? .option : .word
                words.append(.init(text: word, place: place, isBeforeCommand: false))
            } else if takesOptions, isOption(word) {
                if path.isEmpty, word == Option.version.name { return .version }
                let (option, inline) = try sharedOption(word, path)
                words.append(.init(text: word, place: .option, isBeforeCommand: true))
                guard option.value != nil, inline == nil else { continue }
                let value = rest.popFirst() ?? ""
                if value.isEmpty || isOption(value) {
                    throw Failure.missingValue(of: option, isDashed: isOption(value))
                }
                words.append(.init(text: value, place: .word, isBeforeCommand: true))
            } else {
                guard let next = table.command(word, under: command) else { throw unknownCommand(word, under: path) }
                command = next
                path.append(word)
            }
        }
        guard let command else {
            throw Failure.usage("no command is given", hint: "\(table.program) --help lists the commands")
        }
        var taken = Arguments(table, path, words)
        guard let action = command.action(&taken) else {
            let names = command.subcommands.map(\.name).joined(separator: ", ")
            throw Failure.usage("\(name(path)) needs a command after it", hint: "one of: \(names)")
        }
        try taken.finish()
        return .command(action, taken)
    }

    /// Returns words that are the path of a command, and refuses others.
    package func path(of words: [String]) throws(Failure) -> [String] {
        for end in words.indices where table.command(at: Array(words[...end])) == nil {
            throw unknownCommand(words[end], under: Array(words[..<end]))
        }
        return words
    }

    /// The command of a line with `--help`; the rest of the line may be wrong.
    private func helpPath(_ arguments: [String]) throws(Failure) -> [String] {
        var rest = arguments[...]
        var words: [String] = []
        while let argument = rest.popFirst(), argument != "--" {
            if isOption(argument) {
                let takesValue = table.sharedOptions.contains { $0.name == argument && $0.value != nil }
                if takesValue { _ = rest.popFirst() }
                continue
            }
            words = try path(of: words + [argument])
            if table.command(at: words)?.isGroup == false { break }
        }
        return words
    }

    private func isOption(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") && word != "-" }

    private func name(_ path: [String]) -> String { ([table.program] + path).joined(separator: " ") }

    /// An option before the command.
    private func sharedOption(_ word: String, _ path: [String]) throws(Failure) -> (Option, inline: String?) {
        let (name, inline) = splitOption(word)
        if let option = table.sharedOptions.first(where: { $0.name == name || $0.short == name }) {
            return (option, inline)
        }
        let isOfCommand = table.paths.contains { path in
            table.command(at: path)?.declarations(in: table).options.contains { $0.name == name || $0.short == name }
                == true
        }
        throw .unknownOption(
            name, among: table.sharedOptions + [.help],
            hint: isOfCommand ? "\(name) stands after the command" : "\(self.name(path)) --help lists the options")
    }

    private func unknownCommand(_ word: String, under path: [String]) -> Failure {
        let siblings = table.command(at: path)?.subcommands ?? table.commands
        let hint =
            if let near = nearestName(to: word, among: siblings.map(\.name)) {
                "did you mean \(name(path)) \(near)?"
            } else if let group = table.commands.first(where: { $0.subcommands.contains { $0.name == word } }) {
                "did you mean \(table.program) \(group.name) \(word)?"
            } else {
                "\(name(path)) --help lists the commands"
            }
        return .usage("unknown command \(quoted(word))", hint: hint)
    }
}

extension Failure {
    static func missingValue(of option: Option, isDashed: Bool) -> Failure {
        let hint = isDashed ? "\(option.name)=VALUE for a value that begins with a dash" : option.synopsis
        return .usage("\(option.name) needs a value", hint: "write \(hint)")
    }

    static func unknownOption(_ name: String, among options: [Option], hint: String) -> Failure {
        let near = nearestName(
            to: String(name.drop { $0 == "-" }), among: options.map { String($0.name.drop { $0 == "-" }) })
        return .usage("unknown option \(quoted(name))", hint: near.map { "did you mean --\($0)?" } ?? hint)
    }
}
