/// Reads a command line by the table. Every mistake is exit 64, with a hint.
package struct Parser {
    package let table: CommandTable

    package init(table: CommandTable) { self.table = table }

    /// What a command line asks for.
    package enum Request {
        case help([String])
        case version
        case command(Invocation, Command.Run)
    }

    /// Reads the arguments, the program's name left out.
    package func parse(_ arguments: [String]) throws(CommandFailure) -> Request {
        try table.check(arguments)
        // A value cannot begin with a dash (see `takeValue`), so this finds no value by mistake.
        if arguments.prefix(while: { $0 != "--" }).contains(where: { Option.help.matches($0) }) {
            return .help(try helpPath(arguments))
        }
        var line = Line(arguments: arguments[...])
        while let argument = line.arguments.popFirst() {
            if line.takesOptions, argument == "--" {
                line.takesOptions = false
            } else if line.takesOptions, isOption(argument) {
                if line.path.isEmpty, argument == Option.version.name { return .version }
                try take(option: argument, from: &line)
            } else if line.run == nil {
                try step(to: argument, on: &line)
            } else {
                line.words.append(argument)
            }
        }
        return try request(for: line)
    }

    /// The path that words name, all of them commands.
    package func path(of words: [String]) throws(CommandFailure) -> [String] {
        for end in words.indices where table.command(at: Array(words[...end])) == nil {
            throw unknownCommand(words[end], under: Array(words[..<end]))
        }
        return words
    }

    /// A command line while it is read.
    private struct Line {
        var arguments: ArraySlice<String>
        var takesOptions = true
        var path: [String] = []
        var command: Command?
        var run: Command.Run?
        var options: [(option: Option, value: String)] = []
        var words: [String] = []
    }
}

// MARK: Commands

extension Parser {
    private func step(to word: String, on line: inout Line) throws(CommandFailure) {
        line.command = table.command(at: line.path + [word])
        guard let command = line.command else { throw unknownCommand(word, under: line.path) }
        line.path.append(word)
        if case .run(let run) = command.action { line.run = run }
    }

    /// The command that a line with `--help` in it is about; the rest of the line may be wrong.
    private func helpPath(_ arguments: [String]) throws(CommandFailure) -> [String] {
        var rest = arguments[...]
        var words: [String] = []
        while let argument = rest.popFirst(), argument != "--" {
            if isOption(argument) {
                let takesValue = table.sharedOptions.contains { $0.matches(argument) && $0.value != nil }
                if takesValue { _ = rest.popFirst() }
                continue
            }
            words = try path(of: words + [argument])
            if table.command(at: words)?.subcommands.isEmpty == true { break }
        }
        return words
    }

    private func request(for line: Line) throws(CommandFailure) -> Request {
        guard let command = line.command else {
            throw .usage("no command is given", hint: "\(table.program) --help lists the commands")
        }
        let name = ([table.program] + line.path).joined(separator: " ")
        guard let run = line.run else {
            let names = command.subcommands.map(\.name).joined(separator: ", ")
            throw .usage("\(name) needs a command after it", hint: "one of: \(names)")
        }
        for (option, _) in line.options where !command.options.contains(where: { $0.name == option.name }) {
            throw .usage("\(name) has no option \(option.name)", hint: "\(name) --help lists its options")
        }
        let synopsis = HelpPage(table: table, path: line.path).synopsis
        for option in command.options where option.isRequired {
            if line.options.contains(where: { $0.option.name == option.name }) { continue }
            throw .usage("\(option.synopsis) is missing", hint: "usage: \(synopsis)")
        }
        let operands = try distribute(line.words, to: command.operands, synopsis: synopsis)
        let invocation = Invocation(
            table: table, path: line.path, command: command, options: line.options.map { ($0.option.name, $0.value) },
            operands: operands)
        try refuseSharedInput(line, operands: operands)
        return .command(invocation, run)
    }

    private func unknownCommand(_ word: String, under path: [String]) -> CommandFailure {
        let parent = table.command(at: path)
        let siblings = parent?.subcommands ?? table.commands
        let name = ([table.program] + path).joined(separator: " ")
        let hint =
            if let near = nearestName(to: word, among: siblings.map(\.name)) {
                "did you mean \(name) \(near)?"
            } else if let group = table.commands.first(where: { $0.subcommands.contains { $0.name == word } }) {
                "did you mean \(table.program) \(group.name) \(word)?"
            } else {
                "\(name) --help lists the commands"
            }
        return .usage("unknown command \(quoted(word))", hint: hint)
    }
}

// MARK: Options

extension Parser {
    private func isOption(_ argument: String) -> Bool {
        argument.utf8.first == UInt8(ascii: "-") && argument != "-"
    }

    private func take(option argument: String, from line: inout Line) throws(CommandFailure) {
        // By bytes: a value may begin with a mark that Swift takes for a part of the character before it.
        let equals = argument.utf8.starts(with: "--".utf8) ? argument.utf8.firstIndex(of: UInt8(ascii: "=")) : nil
        let name = String(argument[..<(equals ?? argument.endIndex)])
        let inline = equals.map { String(argument[argument.utf8.index(after: $0)...]) }
        let known = line.run == nil ? table.sharedOptions : line.command?.options ?? []
        guard let option = known.first(where: { $0.matches(name) }) else {
            throw unknownOption(name, known: known, line: line)
        }
        guard let value = option.value else {
            if inline != nil { throw .usage("\(option.name) takes no value") }
            line.options.append((option, ""))
            return
        }
        if !option.isRepeatable, line.options.contains(where: { $0.option.name == option.name }) {
            throw .usage("\(option.name) is given twice")
        }
        let text = if let inline { inline } else { try takeValue(of: option, from: &line) }
        if text.isEmpty { throw .usage("\(option.name) needs a value", hint: "write \(option.synopsis)") }
        try value.kind.check(text, for: option.name)
        line.options.append((option, text))
    }

    private func takeValue(of option: Option, from line: inout Line) throws(CommandFailure) -> String {
        guard let next = line.arguments.first else { return "" }
        if isOption(next) {
            throw .usage(
                "\(option.name) needs a value",
                hint: "write \(option.name)=VALUE for a value that begins with a dash")
        }
        line.arguments.removeFirst()
        return next
    }

    private func unknownOption(_ name: String, known: [Option], line: Line) -> CommandFailure {
        let bare = String(name.drop { $0 == "-" })
        let names = (known + [.help]).map { String($0.name.drop { $0 == "-" }) }
        let command = ([table.program] + line.path).joined(separator: " ")
        let hint =
            if let near = nearestName(to: bare, among: names) {
                "did you mean --\(near)?"
            } else if line.run == nil, table.commands.contains(where: { $0.has(option: name) }) {
                "\(name) stands after the command"
            } else {
                "\(command) --help lists the options"
            }
        return .usage("unknown option \(quoted(name))", hint: hint)
    }
}

extension Option {
    package func matches(_ argument: String) -> Bool {
        argument == name || argument == short
    }
}

extension Command {
    fileprivate func has(option name: String) -> Bool {
        options.contains { $0.matches(name) } || subcommands.contains { $0.has(option: name) }
    }
}

// MARK: Operands

extension Parser {
    private func distribute(
        _ words: [String], to operands: [Operand], synopsis: String
    ) throws(CommandFailure) -> [String: [String]] {
        var rest = words[...]
        var values: [String: [String]] = [:]
        for operand in operands {
            let count =
                switch operand.count {
                case .one, .optional: min(1, rest.count)
                case .any, .atLeastOne: rest.count
                }
            let given = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            let isRequired = operand.count == .one || operand.count == .atLeastOne
            if isRequired, given.isEmpty { throw .usage("\(operand.name) is missing", hint: "usage: \(synopsis)") }
            for text in given {
                if text.isEmpty { throw .usage("\(operand.name) is empty", hint: "usage: \(synopsis)") }
                try operand.kind.check(text, for: operand.name)
            }
            values[operand.name] = given
        }
        if let extra = rest.first { throw .usage("unexpected argument \(quoted(extra))", hint: "usage: \(synopsis)") }
        return values
    }

    /// Standard input can be read once.
    private func refuseSharedInput(_ line: Line, operands: [String: [String]]) throws(CommandFailure) {
        var readers: [String] = []
        for (option, value) in line.options {
            if let kind = option.value?.kind, kind.readsStandardInput(value) { readers.append(option.name) }
        }
        for operand in line.command?.operands ?? [] {
            var values = operands[operand.name] ?? []
            if values.isEmpty, operand.count == .optional { values = ["-"] }
            for value in values where operand.kind.readsStandardInput(value) { readers.append(operand.name) }
        }
        guard readers.count > 1 else { return }
        throw .usage(
            "\(readers[0]) and \(readers[1]) cannot both be read from standard input",
            hint: "name a file for one of them")
    }
}

extension ValueKind {
    fileprivate func readsStandardInput(_ value: String) -> Bool {
        switch self {
        case .input: value == "-"
        case .secret: value == "-" || value == "fd:0"
        default: false
        }
    }
}
