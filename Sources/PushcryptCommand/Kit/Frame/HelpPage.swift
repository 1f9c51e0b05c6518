/// The output of `--help` for the program, a group of commands, or a command.
package struct HelpPage {
    private let table: CommandTable
    private let command: Command?
    private let details: CommandDetails?
    private let name: String

    /// - Parameter path: The words of a command; empty for the program itself.
    package init(table: CommandTable, path: [String]) {
        self.table = table
        command = table.command(at: path)
        details = command?.details(in: table)
        name = ([table.program] + path).joined(separator: " ")
    }

    /// The whole page.
    package var text: String {
        var page = "\(name) - \(command?.summary ?? table.summary)\n\nusage: \(synopsis)\n"
        if let details {
            for paragraph in details.discussion { page += "\n" + wrapped(paragraph) }
            page += list("commands", details.subcommands.map { ($0.name, $0.summary) })
            page += list("operands", details.operands.map { ($0.name, $0.help) })
            page += list("options", details.options.map(row) + [row(.help)])
            page += examples(details.examples)
        } else {
            let program = table.page()
            for section in table.sections {
                page += list(section.title, section.commands.map { ($0.name, $0.summary) })
            }
            page += list("options", (table.sharedOptions + [.help, .version]).map(row))
            page += list("exit codes", program.exitCodes.map { ($0.name, $0.help) })
            page += examples(program.examples)
        }
        if command?.body == nil { page += "\n\(name) COMMAND --help shows more about a command\n" }
        return page
    }

    /// The form of the command line: `pushcrypt device add [options] ID FILE`.
    package var synopsis: String {
        guard let command, let details else { return "\(name) [options] COMMAND" }
        guard command.body != nil else { return "\(name) COMMAND" }
        var words = [name]
        words += details.options.filter(\.isRequired).map(\.synopsis)
        if !details.options.allSatisfy(\.isRequired) { words.append("[options]") }
        for operand in details.operands {
            switch operand.count {
            case .one: words.append(operand.name)
            case .optional: words.append("[\(operand.name)]")
            case .any: words.append("[\(operand.name) ...]")
            case .atLeastOne: words.append("\(operand.name) ...")
            }
        }
        return words.joined(separator: " ")
    }
}

// MARK: Layout

extension HelpPage {
    private func row(_ option: Option) -> (String, String) {
        ((option.short.map { $0 + ", " } ?? "    ") + option.synopsis, option.meaning)
    }

    private func list(_ title: String, _ rows: [(term: String, meaning: String)]) -> String {
        rows.isEmpty ? "" : "\n\(title):\n" + listed(rows)
    }

    private func examples(_ examples: [Example]) -> String {
        if examples.isEmpty { return "" }
        var text = "\nexamples:\n"
        for example in examples {
            if let comment = example.comment { text += "  # \(comment)\n" }
            text += "  \(example.line)\n"
        }
        return text
    }
}
