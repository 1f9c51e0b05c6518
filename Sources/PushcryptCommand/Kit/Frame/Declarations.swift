/// An argument that is identified by its position.
package struct Operand: Sendable {
    /// The name in the synopsis: `FILE`.
    package let name: String
    package let help: String
    package let kind: ValueKind
    package let count: Count

    /// The number of arguments. Optional operands follow the required ones; a repeated one is last.
    package enum Count: Sendable {
        case one, optional, any, atLeastOne
    }
}

/// An argument that is identified by its name.
package struct Option: Sendable {
    /// With its dashes: `--to`.
    package let name: String
    /// With its dash: `-o`.
    package let short: String?
    package let help: String
    /// The value of the option; nil for a flag.
    package let value: Value?
    package let isRepeatable: Bool
    package let isRequired: Bool
    /// The title under which help lists it; nil for those that belong nowhere.
    package internal(set) var group: String?
    /// Whether only `--help all` and the manual show it.
    package internal(set) var isAdvanced = false

    /// The name of a value in the synopsis, and what the value may be.
    package struct Value: Sendable {
        package let name: String
        package let kind: ValueKind
    }

    /// The help, and the facts that the declaration adds.
    package var meaning: String {
        var text = help
        if isRepeatable { text += "; repeatable" }
        if case .choice(let words) = value?.kind { text += " (" + words.joined(separator: ", ") + ")" }
        return text
    }

    /// The option in a synopsis: `--to ID`.
    package var synopsis: String {
        if let value { "\(name) \(value.name)" } else { name }
    }

    package static let help = Option("--help", short: "-h", help: "show this help")
    package static let quiet = Option(
        "--quiet", short: "-q", help: "write only errors and warnings to standard error")
    package static let version = Option("--version", help: "show the versions of this program and its libraries")

    init(
        _ name: String, short: String? = nil, _ value: Value? = nil, isRepeatable: Bool = false,
        isRequired: Bool = false, help: String
    ) {
        (self.name, self.short, self.value, self.help) = (name, short, value, help)
        (self.isRepeatable, self.isRequired) = (isRepeatable, isRequired)
    }
}

// MARK: Values

/// The values that an option or operand accepts; checked when the command line is parsed.
package enum ValueKind: Sendable {
    case text
    /// A file to read; `-`, or an optional operand left out, is standard input.
    case input
    /// The source of a secret: a file, `fd:N` or `-`; never the secret itself.
    case secret
    /// The path of a file to write or read.
    case file
    case folder
    /// Any text; completion offers these words.
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
}

extension ValueKind {
    /// Refuses a value of another kind; `name` is its option or operand, for the message.
    package func check(_ text: String, for name: String) throws(Failure) {
        switch self {
        case .text, .input, .secret, .file, .folder, .known, .command: return
        case .choice(let words):
            if words.contains(text) { return }
            let near = nearestName(to: text, among: words)
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: near.map { "did you mean \($0)?" } ?? "write one of: " + words.joined(separator: ", "))
        case .count(let range):
            if parseInteger(text, in: range) != nil { return }
            throw .usage(
                "\(name) cannot be \(quoted(text))",
                hint: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
        case .duration(let range): try check(text, for: name, in: range, units: durationUnits)
        case .milliseconds(let range): try check(text, for: name, in: range, units: millisecondUnits)
        }
    }

    private func check(
        _ text: String, for name: String, in range: ClosedRange<Int>, units: [TimeUnit]
    ) throws(Failure) {
        if parseDuration(text, in: range, units: units) != nil { return }
        let names = units.dropLast().map(\.name).joined(separator: ", ") + " or " + units[units.count - 1].name
        let (first, last) = (
            durationText(range.lowerBound, units: units), durationText(range.upperBound, units: units)
        )
        throw .usage(
            "\(name) cannot be \(quoted(text))",
            hint: "write a whole number with a unit (\(names)), from \(first) to \(last), for example \(name) \(last)")
    }
}

extension ValueKind {
    func readsStandardInput(_ value: String) -> Bool {
        switch self {
        case .input: value == "-"
        case .secret: value == "-" || value == "fd:0"
        default: false
        }
    }
}

// MARK: Declaring options

extension Arguments {
    /// Declares an option without a value; returns whether it was given.
    package mutating func flag(_ name: String, short: String? = nil, help: String) -> Bool {
        !take(Option(name, short: short, help: help)).isEmpty
    }

    /// Declares an option; returns its value, or nil if it was not given.
    package mutating func value(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, help: String
    ) -> String? {
        take(Option(name, short: short, .init(name: valueName, kind: kind), help: help)).first
    }

    /// Declares a required option; returns its value.
    package mutating func requiredValue(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, help: String
    ) -> String {
        take(Option(name, short: short, .init(name: valueName, kind: kind), isRequired: true, help: help)).first ?? ""
    }

    /// Declares an option that may be given several times; returns its values in the order given.
    package mutating func values(
        _ name: String, short: String? = nil, _ valueName: String, _ kind: ValueKind = .text, isRequired: Bool = false,
        help: String
    ) -> [String] {
        let value = Option.Value(name: valueName, kind: kind)
        return take(Option(name, short: short, value, isRepeatable: true, isRequired: isRequired, help: help))
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

// MARK: Declaring operands

extension Arguments {
    /// Declares a required argument; returns it.
    package mutating func operand(_ name: String, _ kind: ValueKind = .text, help: String) -> String {
        take(Operand(name: name, help: help, kind: kind, count: .one)).first ?? ""
    }

    /// Declares an optional argument; returns nil if it was not given.
    package mutating func optionalOperand(_ name: String, _ kind: ValueKind = .text, help: String) -> String? {
        take(Operand(name: name, help: help, kind: kind, count: .optional)).first
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
        take(Operand(name: name, help: help, kind: kind, count: atLeastOne ? .atLeastOne : .any))
    }
}
