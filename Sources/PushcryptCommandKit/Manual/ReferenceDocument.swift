/// The reference of the command line as a Markdown document: `Docs/CommandLine.md`.
///
/// An option that several commands have with the same words is described once, at the top.
package struct ReferenceDocument {
    /// The number of commands from which on an option counts as shared.
    private static let minimumShare = 4

    private let table: CommandTable
    /// The path and the details of every command.
    private let commands: [(path: [String], command: Command, details: CommandDetails)]
    /// The rows of shared options, in the order of their first command.
    private let shared: [Row]

    private struct Row: Hashable {
        let name: String
        let term: String
        let meaning: String

        init(_ option: Option) {
            name = option.name
            term = (option.short.map { $0 + ", " } ?? "") + option.synopsis
            meaning = option.meaning
        }
    }

    package init(table: CommandTable) {
        self.table = table
        commands = table.paths.compactMap { path in
            table.command(at: path).map { (path, $0, $0.details(in: table)) }
        }
        var counts: [Row: Int] = [:]
        var rows: [Row] = []
        for (_, _, details) in commands {
            for option in details.options {
                let row = Row(option)
                if counts[row] == nil { rows.append(row) }
                counts[row, default: 0] += 1
            }
        }
        // Of several meanings of one name, the most frequent.
        shared =
            table.sharedOptions.map(Row.init)
            + rows.filter { row in
                guard let count = counts[row], count >= Self.minimumShare else { return false }
                let others = rows.filter { $0.name == row.name && $0 != row }
                return !table.sharedOptions.contains { $0.name == row.name }
                    && others.allSatisfy { counts[$0, default: 0] < count }
            }
    }

    /// The whole document.
    package var text: String {
        let program = table.page()
        var text = "# Command line\n\n" + paragraph(introduction)
        for section in table.sections {
            text += "\n**\(section.title.prefix(1).uppercased())\(section.title.dropFirst())**\n\n"
            text += section.commands.map { entry([$0.name], $0) }.joined()
        }
        text += "\n" + paragraph(sharedIntroduction)
        text += table(of: "shared option", (shared + [.init(.help), .init(.version)]).map { ($0.term, $0.meaning) })
        text += table(of: "exit code", program.exitCodes.map { ($0.name, $0.help) })
        text += table(of: "variable", program.environment.map { ($0.name, $0.help) })
        text += table(of: "file", program.files.map { ($0.name, $0.help) })
        text += examples(program.examples)
        return text + commands.map(chapter).joined()
    }

    private var introduction: String {
        "Every command and every option, written by '\(table.program) man --markdown' from the table that the program itself uses. '\(table.program) COMMAND --help' prints the same for one command, as does 'man \(table.program)-COMMAND' where the manual is installed."
    }

    private var sharedIntroduction: String {
        let names = table.sharedOptions.map { "'\($0.name)'" }.joined(separator: " and ")
        return
            "An option with the same meaning in several commands is described here only; the chapter of a command names it below its table. \(names) may also precede the command."
    }
}

// MARK: Chapters

extension ReferenceDocument {
    private func chapter(_ path: [String], _ command: Command, _ details: CommandDetails) -> String {
        let name = ([table.program] + path).joined(separator: " ")
        var text = "\n\(path.count == 1 ? "##" : "###") \(name)\n\n"
        text += paragraph(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
        text += block([HelpPage(table: table, path: path).synopsis])
        for part in details.discussion { text += "\n" + paragraph(part) }
        if !details.subcommands.isEmpty {
            text += "\n" + details.subcommands.map { entry(path + [$0.name], $0) }.joined()
        }
        text += table(of: "operand", details.operands.map { ($0.name, $0.help) })
        let own = details.options.filter { !shared.contains(Row($0)) }
        text += table(of: "option", own.map { (Row($0).term, $0.meaning) })
        let others = details.options.filter { shared.contains(Row($0)) }.map { "`\($0.name)`" }
        if !others.isEmpty { text += "\nShared options: \(others.joined(separator: ", ")).\n" }
        return text + examples(details.examples)
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
