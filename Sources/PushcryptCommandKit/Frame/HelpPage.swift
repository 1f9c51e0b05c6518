/// What `--help` prints: one page for the program, for a group of commands, or for a command.
package struct HelpPage {
    package let table: CommandTable
    /// Empty for the program itself.
    package let path: [String]

    package init(table: CommandTable, path: [String]) {
        self.table = table
        self.path = path
    }

    /// The whole page.
    package var text: String {
        let command = table.command(at: path)
        var page = "\(name) - \(command?.summary ?? table.summary)\n\nusage: \(synopsis)\n"
        for paragraph in command?.discussion ?? [] { page += "\n" + wrapped(paragraph) }
        if let command {
            page += list("commands", command.subcommands.map { ($0.name, $0.summary) })
            page += list("operands", command.operands.map { ($0.name, $0.help) })
            page += list("options", command.options.map(row) + [row(.help)])
        } else {
            for section in table.sections {
                page += list(section.title, section.commands.map { ($0.name, $0.summary) })
            }
            page += list("options", (table.sharedOptions + [.help, .version]).map(row))
            page += list("exit codes", table.exitCodes.map { ($0.name, $0.help) })
        }
        page += examples(command?.examples ?? table.examples)
        if command?.subcommands.isEmpty != true { page += "\n\(name) COMMAND --help shows more about a command\n" }
        return page
    }

    /// The shape of the command line: `pushcrypt device add [options] ID FILE`.
    package var synopsis: String {
        guard let command = table.command(at: path) else { return "\(name) [options] COMMAND" }
        if !command.subcommands.isEmpty { return "\(name) COMMAND" }
        var words = [name]
        words += command.options.filter(\.isRequired).map(\.synopsis)
        if !command.options.allSatisfy(\.isRequired) { words.append("[options]") }
        for operand in command.operands {
            switch operand.count {
            case .one: words.append(operand.name)
            case .optional: words.append("[\(operand.name)]")
            case .any: words.append("[\(operand.name) ...]")
            case .atLeastOne: words.append("\(operand.name) ...")
            }
        }
        return words.joined(separator: " ")
    }

    private var name: String { ([table.program] + path).joined(separator: " ") }
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
