/// The arguments of a command, declared and read in one step.
///
/// A command's initialiser runs twice: first to collect its declarations, when every value is absent, and then to read the
/// values of a command line that was checked against them. It must make the same declarations in every run, and leave
/// everything that can fail to `run`.
package struct Arguments {
    package let table: CommandTable
    private(set) var declarations = Declarations()
    /// Nil while declarations are collected.
    private let line: Invocation?
    /// The group of the options that are declared next.
    private var group: String?
    private var isAdvanced = false

    private init(_ table: CommandTable, _ line: Invocation?) {
        self.table = table
        self.line = line
    }

    /// The options and operands that a command declares; the same whether it reads a command line or not.
    static func declarations(
        of body: any CommandBody.Type, in table: CommandTable, reading line: Invocation? = nil
    ) -> Declarations {
        var arguments = Arguments(table, line)
        _ = body.init(&arguments)
        arguments.declarations.options.append(.quiet)
        return arguments.declarations
    }

    static func options(in table: CommandTable, _ declare: (inout Arguments) -> Void) -> [Option] {
        var arguments = Arguments(table, nil)
        declare(&arguments)
        return arguments.declarations.options
    }

    /// A command with the values of a command line.
    static func read(_ body: any CommandBody.Type, from line: Invocation) -> any CommandBody {
        var arguments = Arguments(line.table, line)
        return body.init(&arguments)
    }

    /// The names of the options in `declare` that were given, in the order of their declaration.
    package mutating func given<R>(_ declare: (inout Arguments) -> R) -> (values: R, names: [String]) {
        let start = declarations.options.count
        let values = declare(&self)
        let names = declarations.options[start...].map(\.name)
        return (values, names.filter { line?.values($0).isEmpty == false })
    }

    /// Begins a group of options, which help lists together; nil is for those that belong nowhere, which come last.
    ///
    /// - Parameter isAdvanced: Whether only `--help all` and the manual list it.
    package mutating func group(_ title: String?, isAdvanced: Bool = false) {
        (group, self.isAdvanced) = (title, isAdvanced)
    }

    private mutating func values(_ option: Option) -> [String] {
        var option = option
        (option.group, option.isAdvanced) = (group, isAdvanced)
        declarations.options.append(option)
        return line?.values(option.name) ?? []
    }

    private mutating func values(_ operand: Operand) -> [String] {
        declarations.operands.append(operand)
        return line?.operands(operand.name) ?? []
    }
}

// MARK: Options

extension Arguments {
    /// Declares an option without a value; returns whether it was given.
    package mutating func flag(_ name: String, short: String? = nil, help: String) -> Bool {
        let option = Option(
            name: name, short: short, help: help, value: nil, isRepeatable: false, isRequired: false)
        return !values(option).isEmpty
    }

    /// Declares an option; returns its value, or nil if it was not given.
    package mutating func value(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, help: String
    ) -> String? {
        values(
            Option(
                name: name, short: short, help: help, value: .init(name: valueName, kind: kind), isRepeatable: false,
                isRequired: false)
        ).first
    }

    /// Declares a required option; returns its value.
    package mutating func requiredValue(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, help: String
    ) -> String {
        values(
            Option(
                name: name, short: short, help: help, value: .init(name: valueName, kind: kind), isRepeatable: false,
                isRequired: true)
        ).first ?? ""
    }

    /// Declares an option that may be given several times; returns its values in the order given.
    package mutating func values(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, isRequired: Bool = false,
        help: String
    ) -> [String] {
        values(
            Option(
                name: name, short: short, help: help, value: .init(name: valueName, kind: kind), isRepeatable: true,
                isRequired: isRequired))
    }

    /// The words of a type. A key path here would be made at run time, by every command.
    private static func words<Word: RawRepresentable<String> & CaseIterable>(
        _: Word.Type
    ) -> [String] where Word.AllCases == [Word] {
        Word.allCases.map { $0.rawValue }
    }

    /// Declares an option with one of a type's words; returns nil if it was not given.
    package mutating func choice<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ valueName: String, help: String
    ) -> Word? where Word.AllCases == [Word] {
        value(name, valueName, .choice(Self.words(Word.self)), help: help).flatMap(Word.init(rawValue:))
    }

    /// Declares an option with a whole number; returns nil if it was not given.
    package mutating func count(
        _ name: String, short: String? = nil, _ valueName: String, _ range: ClosedRange<Int>, help: String
    ) -> Int? {
        value(name, short: short, valueName, .count(range), help: help).flatMap { parseInteger($0, in: range) }
    }

    /// Declares an option with a time; returns it in seconds, or nil if it was not given.
    package mutating func seconds(
        _ name: String, _ valueName: String, _ range: ClosedRange<Int>, help: String
    ) -> Int? {
        value(name, valueName, .duration(range), help: help).flatMap { parseDuration($0, in: range) }
    }

    /// Declares a required option with a time; returns it in seconds.
    package mutating func requiredSeconds(
        _ name: String, _ valueName: String, _ range: ClosedRange<Int>, help: String
    ) -> Int {
        parseDuration(requiredValue(name, valueName, .duration(range), help: help), in: range) ?? range.lowerBound
    }

    /// Declares an option with a short time; returns it in milliseconds, or nil if it was not given.
    package mutating func milliseconds(
        _ name: String, _ valueName: String, _ range: ClosedRange<Int>, help: String
    ) -> Int? {
        value(name, valueName, .milliseconds(range), help: help)
            .flatMap { parseDuration($0, in: range, units: millisecondUnits) }
    }
}

// MARK: Operands

extension Arguments {
    /// Declares a required argument; returns it.
    package mutating func operand(_ name: String, _ kind: ValueKind = .text, help: String) -> String {
        values(Operand(name: name, help: help, kind: kind, count: .one)).first ?? ""
    }

    /// Declares an optional argument; returns nil if it was not given.
    package mutating func optionalOperand(_ name: String, _ kind: ValueKind = .text, help: String) -> String? {
        values(Operand(name: name, help: help, kind: kind, count: .optional)).first
    }

    /// Declares an optional file to read; returns `-`, standard input, if it was not given.
    package mutating func optionalInput(_ name: String, help: String) -> String {
        optionalOperand(name, .input, help: help) ?? "-"
    }

    /// Declares a required argument, one of a type's words; returns `placeholder` while declarations are collected.
    package mutating func operand<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, placeholder: Word, help: String
    ) -> Word where Word.AllCases == [Word] {
        Word(rawValue: operand(name, .choice(Self.words(Word.self)), help: help)) ?? placeholder
    }

    /// Declares the remaining arguments; returns them.
    package mutating func operands(
        _ name: String, _ kind: ValueKind = .text, atLeastOne: Bool = false, help: String
    ) -> [String] {
        values(Operand(name: name, help: help, kind: kind, count: atLeastOne ? .atLeastOne : .any))
    }
}

// MARK: Rules

extension Arguments {
    /// Refuses options that exclude each other, which must be declared before.
    package mutating func atMostOne(of names: String...) {
        add(.atMostOne(names), names)
    }

    /// Refuses the option together with any of the others. All must be declared before.
    package mutating func option(_ name: String, excludes others: [String], hint: String) {
        add(.excludes(name, others, hint: hint), [name] + others)
    }

    /// Refuses the option without the other. Both must be declared before.
    package mutating func option(_ name: String, needs other: String, hint: String? = nil) {
        add(.needs(name, other: other, hint: hint), [name, other])
    }

    private mutating func add(_ rule: Rule, _ names: [String]) {
        for name in names {
            precondition(declarations.options.contains { $0.name == name }, "a rule about an unknown option \(name)")
        }
        declarations.rules.append(rule)
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
