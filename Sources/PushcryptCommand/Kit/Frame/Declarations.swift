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

    package static let help = Option(
        name: "--help", short: "-h", help: "show this help", value: nil, isRepeatable: false, isRequired: false)
    package static let quiet = Option(
        name: "--quiet", short: "-q", help: "write only errors and warnings to standard error", value: nil,
        isRepeatable: false, isRequired: false)
    package static let version = Option(
        name: "--version", short: nil, help: "show the versions of this program and its libraries", value: nil,
        isRepeatable: false, isRequired: false)
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
        case .input, .secret, .file, .folder: return
        default: break
        }
        guard RawText.isText(text) else { throw .usage("\(name) is not UTF-8 text: \(quoted(text))") }
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
