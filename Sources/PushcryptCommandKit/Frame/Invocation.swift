/// A command line that was understood: what the person gave, checked against the table.
///
/// Names are those of the command's table entry; asking for one that is not there is a mistake in the command, and traps.
package struct Invocation: Sendable {
    package let table: CommandTable
    package let path: [String]
    package let command: Command
    /// In the order given.
    private let optionValues: [(name: String, value: String)]
    private let operandValues: [String: [String]]

    package init(
        table: CommandTable, path: [String], command: Command, options: [(name: String, value: String)],
        operands: [String: [String]]
    ) {
        self.table = table
        self.path = path
        self.command = command
        optionValues = options
        operandValues = operands
    }

    /// Whether a flag, or an option of any kind, was given.
    package func flag(_ name: String) -> Bool {
        !values(name).isEmpty
    }

    /// The value of an option, and nil when it was not given.
    package func value(_ name: String) -> String? {
        values(name).first
    }

    /// The value of an option that the table requires.
    package func requiredValue(_ name: String) -> String {
        precondition(option(name).isRequired, "\(name) is not required")
        return value(name) ?? ""
    }

    /// All values of a repeatable option, in the order given.
    package func values(_ name: String) -> [String] {
        let option = option(name)
        return optionValues.filter { $0.name == option.name }.map(\.value)
    }

    /// The value of a number's option, inside its range.
    package func count(_ name: String) -> Int? {
        guard case .count(let range) = option(name).value?.kind else { preconditionFailure("\(name) is no number") }
        return value(name).flatMap { parseInteger($0, in: range) }
    }

    /// The value of a duration option in seconds, inside its range.
    package func seconds(_ name: String) -> Int? {
        guard case .duration(let range) = option(name).value?.kind else {
            preconditionFailure("\(name) is no duration")
        }
        return value(name).flatMap { parseDuration($0, in: range) }
    }

    /// The value of a short time's option in milliseconds, inside its range.
    package func milliseconds(_ name: String) -> Int? {
        guard case .milliseconds(let range) = option(name).value?.kind else {
            preconditionFailure("\(name) is no short time")
        }
        return value(name).flatMap { parseDuration($0, in: range, units: millisecondUnits) }
    }

    /// An operand that the table requires, or an input that is standard input (`-`) when it was left out.
    package func operand(_ name: String) -> String {
        let declared = declaredOperand(name)
        precondition(declared.count == .one || declared.kind.isInput, "\(name) may be missing")
        return operands(name).first ?? "-"
    }

    /// An optional operand, and nil when it was not given.
    package func optionalOperand(_ name: String) -> String? {
        operands(name).first
    }

    /// All arguments of an operand.
    package func operands(_ name: String) -> [String] {
        operandValues[declaredOperand(name).name] ?? []
    }

    /// Refuses options that exclude each other.
    package func atMostOne(of names: String...) throws(CommandFailure) {
        let given = names.filter(flag)
        guard given.count > 1 else { return }
        throw .usage("\(given[0]) and \(given[1]) exclude each other")
    }

    private func option(_ name: String) -> Option {
        guard let option = command.options.first(where: { $0.name == name }) else {
            preconditionFailure("the table gives \(command.name) no option \(name)")
        }
        return option
    }

    private func declaredOperand(_ name: String) -> Operand {
        guard let operand = command.operands.first(where: { $0.name == name }) else {
            preconditionFailure("the table gives \(command.name) no operand \(name)")
        }
        return operand
    }
}

// MARK: Output

extension Console {
    /// Writes a command's one piece of data to its `--output`, or to standard output.
    ///
    /// The command lists `.output` and `.force`. A file of secrets is readable by its owner only.
    package func deliver(_ bytes: Span<UInt8>, of invocation: Invocation, isSecret: Bool = false) throws(CommandFailure)
    {
        guard let path = invocation.value("--output"), path != "-" else { return try write(bytes) }
        try OutputFile.write(bytes, to: path, mode: isSecret ? 0o600 : 0o666, force: invocation.flag("--force"))
    }
}
