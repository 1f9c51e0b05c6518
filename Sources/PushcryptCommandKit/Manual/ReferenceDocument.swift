/// The reference of the command line as a Markdown document: `Docs/CommandLine.md`.
package struct ReferenceDocument {
    package let table: CommandTable

    package init(table: CommandTable) { self.table = table }

    /// The whole document.
    package var text: String {
        var text = "# Command line\n\n" + paragraph(introduction)
        for section in table.sections {
            text += "\n**\(section.title.prefix(1).uppercased())\(section.title.dropFirst())**\n\n"
            text += section.commands.map { entry([$0.name], $0) }.joined()
        }
        text += table(of: "option", (table.sharedOptions + [.help, .version]).map(row))
        text += table(of: "exit code", table.exitCodes.map { ($0.name, $0.help) })
        text += table(of: "variable", table.environment.map { ($0.name, $0.help) })
        text += table(of: "file", table.files.map { ($0.name, $0.help) })
        text += examples(table.examples)
        return text + table.paths.map(chapter).joined()
    }

    private var introduction: String {
        "Every command and every option, written by '\(table.program) man --markdown' from the table that the program itself reads. '\(table.program) COMMAND --help' prints the same of one command, and 'man \(table.program)-COMMAND' where the manual is installed."
    }
}

// MARK: Chapters

extension ReferenceDocument {
    private func chapter(_ path: [String]) -> String {
        guard let command = table.command(at: path) else { return "" }
        let name = ([table.program] + path).joined(separator: " ")
        var text = "\n\(path.count == 1 ? "##" : "###") \(name)\n\n"
        text += paragraph(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
        text += block([HelpPage(table: table, path: path).synopsis])
        for part in command.discussion { text += "\n" + paragraph(part) }
        if !command.subcommands.isEmpty {
            text += "\n" + command.subcommands.map { entry(path + [$0.name], $0) }.joined()
        }
        text += table(of: "operand", command.operands.map { ($0.name, $0.help) })
        text += table(of: "option", command.options.map(row))
        return text + examples(command.examples)
    }

    private func entry(_ path: [String], _ command: Command) -> String {
        let name = [table.program] + path
        return "- [`\(name.joined(separator: " "))`](#\(name.joined(separator: "-"))) - \(escaped(command.summary))\n"
    }

    private func examples(_ examples: [Example]) -> String {
        examples.isEmpty ? "" : block(examples.flatMap { ($0.comment.map { ["# \($0)"] } ?? []) + [$0.line] })
    }
}

// MARK: Markdown

extension ReferenceDocument {
    private func row(_ option: Option) -> (String, String) {
        ((option.short.map { $0 + ", " } ?? "") + option.synopsis, option.meaning)
    }

    private func table(of title: String, _ rows: [(term: String, meaning: String)]) -> String {
        if rows.isEmpty { return "" }
        return "\n| \(title) | |\n|---|---|\n"
            + rows.map { "| `\(split(bar: $0.term))` | \(escaped($0.meaning)) |\n" }.joined()
    }

    private func block(_ lines: [String]) -> String { "\n```\n" + lines.map { $0 + "\n" }.joined() + "```\n" }

    private func paragraph(_ text: String) -> String { wrapped(escaped(text), width: 120) }

    /// A bar ends a cell of a table, in code too.
    private func split(bar text: String) -> String { text.split(separator: "|").joined(separator: "\\|") }

    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if "\\`*<|".contains(character) { result += "\\" }
            result.append(character)
        }
        return result
    }
}
