/// Parses command lines. Every mistake is exit 64, with a hint.
package struct Parser {
    package let table: CommandTable

    package init(table: CommandTable) { self.table = table }

    /// The request of a command line.
    package enum Request {
        /// The page of a command; whole with `--help all`.
        case help([String], isWhole: Bool)
        case version
        case command(Invocation)
    }

    /// Parses the arguments, without the program's name.
    package func parse(_ arguments: [String]) throws -> Request {
        try table.check(arguments)
        // A value cannot begin with a dash (see `takeValue`), so this finds no value by mistake.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        if let help = arguments[..<end].firstIndex(where: { Option.help.matches($0) }) {
            guard help + 1 < end, arguments[help + 1] == HelpPage.all else {
                return .help(try helpPath(arguments), isWhole: false)
            }
            var words = arguments
            words.remove(at: help + 1)
            return .help(try helpPath(words), isWhole: true)
        }
        var line = Line(arguments: arguments[...])
        while let argument = line.arguments.popFirst() {
            if line.takesOptions, argument == "--" {
                line.takesOptions = false
            } else if line.takesOptions, isOption(argument) {
                if line.path.isEmpty, argument == Option.version.name { return .version }
                try take(option: argument, from: &line)
            } else if line.body == nil {
                try step(to: argument, on: &line)
            } else {
                line.words.append(argument)
            }
        }
        return .command(try invocation(of: line))
    }

    /// Returns words that are the path of a command, and refuses others.
    package func path(of words: [String]) throws(Failure) -> [String] {
        for end in words.indices where table.command(at: Array(words[...end])) == nil {
            throw unknownCommand(words[end], under: Array(words[..<end]))
        }
        return words
    }

    /// A partly parsed command line.
    private struct Line {
        var arguments: ArraySlice<String>
        var takesOptions = true
        var path: [String] = []
        var command: Command?
        /// The command to run, and what it declares; nil while the command is not complete.
        var body: (any CommandBody.Type)?
        var declarations = Declarations()
        var options: [(option: Option, value: String)] = []
        var words: [String] = []

        func has(_ option: String) -> Bool { options.contains { $0.option.name == option } }
    }
}

// MARK: Commands

extension Parser {
    private func step(to word: String, on line: inout Line) throws(Failure) {
        guard let command = table.command(word, under: line.command) else {
            throw unknownCommand(word, under: line.path)
        }
        line.command = command
        line.path.append(word)
        guard let body = command.body else { return }
        line.body = body
        line.declarations = Arguments.declarations(of: body, in: table)
    }

    /// The command of a line with `--help`; the rest of the line may be wrong.
    private func helpPath(_ arguments: [String]) throws(Failure) -> [String] {
        var rest = arguments[...]
        var words: [String] = []
        while let argument = rest.popFirst(), argument != "--" {
            if isOption(argument) {
                let takesValue = table.sharedOptions.contains { $0.matches(argument) && $0.value != nil }
                if takesValue { _ = rest.popFirst() }
                continue
            }
            words = try path(of: words + [argument])
            if table.command(at: words)?.body != nil { break }
        }
        return words
    }

    private func invocation(of line: Line) throws(Failure) -> Invocation {
        guard let command = line.command else {
            throw .usage("no command is given", hint: "\(table.program) --help lists the commands")
        }
        guard let body = line.body else {
            let names = command.subcommands.map(\.name).joined(separator: ", ")
            throw .usage("\(name(line.path)) needs a command after it", hint: "one of: \(names)")
        }
        for (option, _) in line.options where !line.declarations.options.contains(where: { $0.name == option.name }) {
            throw .usage(
                "\(name(line.path)) has no option \(option.name)", hint: "\(name(line.path)) --help lists its options")
        }
        for option in line.declarations.options where option.isRequired && !line.has(option.name) {
            throw .usage("\(option.synopsis) is missing", hint: "usage: \(synopsis(line.path))")
        }
        let operands = try distribute(line.words, of: line)
        try refuseSharedInput(line, operands: operands)
        try check(line)
        return Invocation(
            table: table, path: line.path, body: body, declarations: line.declarations,
            optionValues: line.options.map { ($0.option.name, $0.value) }, operandValues: operands)
    }

    private func name(_ path: [String]) -> String { ([table.program] + path).joined(separator: " ") }

    private func synopsis(_ path: [String]) -> String { HelpPage(table: table, path: path).synopsis }

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

// MARK: Options

extension Parser {
    private func isOption(_ argument: String) -> Bool {
        argument.utf8.first == UInt8(ascii: "-") && argument != "-"
    }

    private func take(option argument: String, from line: inout Line) throws(Failure) {
        // Compares bytes: Swift joins a combining mark at the start of a value to the character before it.
        let equals = argument.utf8.starts(with: "--".utf8) ? argument.utf8.firstIndex(of: UInt8(ascii: "=")) : nil
        let name = String(argument[..<(equals ?? argument.endIndex)])
        let inline = equals.map { String(argument[argument.utf8.index(after: $0)...]) }
        let known = line.body == nil ? table.sharedOptions : line.declarations.options
        guard let option = known.first(where: { $0.matches(name) }) else {
            throw unknownOption(name, known: known, line: line)
        }
        guard let value = option.value else {
            if inline != nil { throw .usage("\(option.name) takes no value") }
            line.options.append((option, ""))
            return
        }
        if !option.isRepeatable, line.has(option.name) { throw .usage("\(option.name) is given twice") }
        let text = if let inline { inline } else { try takeValue(of: option, from: &line) }
        if text.isEmpty { throw .usage("\(option.name) needs a value", hint: "write \(option.synopsis)") }
        try value.kind.check(text, for: option.name)
        line.options.append((option, text))
    }

    private func takeValue(of option: Option, from line: inout Line) throws(Failure) -> String {
        guard let next = line.arguments.first else { return "" }
        if isOption(next) {
            throw .usage(
                "\(option.name) needs a value",
                hint: "write \(option.name)=VALUE for a value that begins with a dash")
        }
        line.arguments.removeFirst()
        return next
    }

    private func unknownOption(_ name: String, known: [Option], line: Line) -> Failure {
        let bare = String(name.drop { $0 == "-" })
        let names = (known + [.help]).map { String($0.name.drop { $0 == "-" }) }
        let hint =
            if let near = nearestName(to: bare, among: names) {
                "did you mean --\(near)?"
            } else if line.body == nil, table.commands.contains(where: { has($0, option: name) }) {
                "\(name) stands after the command"
            } else {
                "\(self.name(line.path)) --help lists the options"
            }
        return .usage("unknown option \(quoted(name))", hint: hint)
    }

    private func has(_ command: Command, option name: String) -> Bool {
        let details = command.details(in: table)
        return details.options.contains { $0.matches(name) }
            || details.subcommands.contains { has($0, option: name) }
    }

    private func check(_ line: Line) throws(Failure) {
        for rule in line.declarations.rules {
            switch rule {
            case .atMostOne(let names):
                let given = names.filter(line.has)
                if given.count > 1 { throw .usage("\(given[0]) and \(given[1]) exclude each other") }
            case .excludes(let name, let others, let hint):
                guard line.has(name), let other = others.first(where: line.has) else { continue }
                throw .usage("\(name) and \(other) exclude each other", hint: hint)
            case .needs(let name, let other, let hint):
                guard line.has(name), !line.has(other) else { continue }
                throw Failure(.usage, "\(name) goes with \(other)", hints: hint.map { [$0] } ?? [])
            }
        }
    }
}

// MARK: Operands

extension Parser {
    private func distribute(
        _ words: [String], of line: Line
    ) throws(Failure) -> [(name: String, values: [String])] {
        var rest = words[...]
        var values: [(name: String, values: [String])] = []
        for operand in line.declarations.operands {
            let count =
                switch operand.count {
                case .one, .optional: min(1, rest.count)
                case .any, .atLeastOne: rest.count
                }
            let given = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            let isRequired = operand.count == .one || operand.count == .atLeastOne
            if isRequired, given.isEmpty {
                throw .usage("\(operand.name) is missing", hint: "usage: \(synopsis(line.path))")
            }
            for text in given {
                if text.isEmpty { throw .usage("\(operand.name) is empty", hint: "usage: \(synopsis(line.path))") }
                try operand.kind.check(text, for: operand.name)
            }
            values.append((operand.name, given))
        }
        if let extra = rest.first {
            throw .usage("unexpected argument \(quoted(extra))", hint: "usage: \(synopsis(line.path))")
        }
        return values
    }

    /// Refuses two arguments that both read standard input.
    private func refuseSharedInput(
        _ line: Line, operands: [(name: String, values: [String])]
    ) throws(Failure) {
        var readers: [String] = []
        for (option, value) in line.options {
            if let kind = option.value?.kind, kind.readsStandardInput(value) { readers.append(option.name) }
        }
        for (operand, given) in zip(line.declarations.operands, operands) {
            var values = given.values
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

/// A parsed and checked command line.
package struct Invocation: Sendable {
    package let table: CommandTable
    package let path: [String]
    package let body: any CommandBody.Type
    package let declarations: Declarations
    /// In the order given.
    let optionValues: [(name: String, value: String)]
    let operandValues: [(name: String, values: [String])]

    /// The command with its values.
    package var command: any CommandBody { Arguments.read(body, from: self) }

    /// Whether only errors and warnings are wanted.
    var isQuiet: Bool { !values(Option.quiet.name).isEmpty }

    /// The values of an option in the order given; an empty text for a flag.
    func values(_ name: String) -> [String] {
        var values: [String] = []
        for option in optionValues where option.name == name { values.append(option.value) }
        return values
    }

    /// The arguments of an operand.
    func operands(_ name: String) -> [String] {
        operandValues.first { $0.name == name }?.values ?? []
    }
}
