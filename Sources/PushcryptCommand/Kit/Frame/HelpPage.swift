/// The output of `--help` for the program, a group of commands, or a command.
package struct HelpPage {
    private let table: CommandTable
    private let command: Command?
    private let declarations: Arguments
    private let name: String
    private let isWhole: Bool

    /// The word after `--help` for the whole page.
    static let all = "all"

    /// - Parameters:
    ///   - path: The words of a command; empty for the program itself.
    ///   - isWhole: Whether the page shows advanced options too, or the program's every command.
    package init(table: CommandTable, path: [String], isWhole: Bool = false) {
        self.table = table
        command = table.command(at: path)
        declarations = command?.declarations(in: table) ?? Arguments(table)
        name = ([table.program] + path).joined(separator: " ")
        self.isWhole = isWhole
    }

    /// The whole text of the page.
    package var text: String {
        var page = "\(name) - \(command?.summary ?? table.summary)\n\nusage: \(synopsis)\n"
        if let command {
            for paragraph in command.about + (isWhole ? command.more : []) { page += "\n" + wrapped(paragraph) }
            page += list("commands", command.subcommands.map { ($0.name, $0.summary) })
            page += list("operands", declarations.operands.map { ($0.name, $0.help) })
            page += options(declarations.options + [.help])
            page += examples(command.examples)
        } else {
            page += program
        }
        return page + ending
    }

    /// The page of the program, after its synopsis.
    private var program: String {
        var page = ""
        for section in table.sections {
            page += list(section.title, isWhole ? leaves(of: section) : section.commands.map { ($0.name, $0.summary) })
        }
        page += list("options", (table.sharedOptions + [.help, .version]).map(row))
        page += list(
            "more help", [("\(table.program) help \(CommandTable.exitCodes.name)", CommandTable.exitCodes.summary)])
        return page + examples(table.examples)
    }

    /// How to see more than this page.
    private var ending: String {
        guard let command, !command.isGroup else {
            let all = command == nil && !isWhole ? ", \(name) --help \(Self.all) lists every command" : ""
            return "\n\(name) COMMAND --help shows more about a command\(all)\n"
        }
        if isWhole { return "" }
        let hidden = declarations.options.count { $0.isAdvanced }
        guard hidden > 0 || !command.more.isEmpty else { return "" }
        return "\n\(name) --help \(Self.all) shows more"
            + (hidden == 0 ? "\n" : ", and \(hidden) more \(hidden == 1 ? "option" : "options")\n")
    }

    /// The form of the command line: `pushcrypt device add [options] ID FILE`.
    package var synopsis: String {
        guard let command else { return "\(name) [options] COMMAND" }
        if command.isGroup { return "\(name) COMMAND" }
        let options = declarations.options.filter { $0.name != Option.quiet.name }
        var words = [name] + options.filter(\.isRequired).map(\.synopsis)
        if !options.allSatisfy(\.isRequired) { words.append("[options]") }
        for operand in declarations.operands {
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

    /// The commands of a section that run, with all their words.
    private func leaves(of section: CommandTable.Section) -> [(String, String)] {
        func leaves(_ command: Command, _ path: String) -> [(String, String)] {
            if !command.isGroup { return [(path, command.summary)] }
            return command.subcommands.flatMap { leaves($0, "\(path) \($0.name)") }
        }
        return section.commands.flatMap { leaves($0, $0.name) }
    }

    /// The options in their groups, and last those of none.
    private func options(_ options: [Option]) -> String {
        let shown = options.filter { isWhole || !$0.isAdvanced }
        var titles: [String?] = []
        for option in shown where option.group != nil && !titles.contains(option.group) { titles.append(option.group) }
        return (titles + [nil]).map { title in
            list(title ?? "options", shown.filter { $0.group == title }.map(row))
        }.joined()
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

extension CommandTable {
    /// The page of the exit codes.
    package static var exitCodesText: String { "\(exitCodes.summary):\n" + listed(exitCodeTerms) }
}
