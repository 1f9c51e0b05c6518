/// The reference of the command line as a Markdown document, which `make docs` writes and packages contain.
///
/// An option with the same meaning in several commands is described once, at the top. The page of a command is its synopsis,
/// operands, options and examples; it does not list the commands under it, whose chapters follow.
package struct ReferenceDocument {
    private let table: CommandTable
    /// The path and the details of every command.
    private let commands: [(path: [String], command: Command, details: CommandDetails)]
    /// The shared options, in the order of their first command.
    private let shared: [Row]
    /// The command that has an option first.
    private let first: [Row: [String]]

    /// A line about an option.
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
        var rows = table.sharedOptions.map(Row.init).filter { $0.name != Option.quiet.name }
        var first: [Row: [String]] = [:]
        for (path, _, details) in commands {
            for row in details.ownOptions.map(Row.init) {
                counts[row, default: 0] += 1
                if !rows.contains(row) { rows.append(row) }
                if first[row] == nil { first[row] = path }
            }
        }
        // Of several meanings of one name the most frequent, of equally frequent ones the first.
        var shared: [Row] = []
        for row in rows where counts[row, default: 0] > 1 && !shared.contains(where: { $0.name == row.name }) {
            let others = rows.filter { $0.name == row.name }
            if others.allSatisfy({ counts[$0, default: 0] <= counts[row, default: 0] }) { shared.append(row) }
        }
        self.shared = shared
        self.first = first
    }

    /// The whole document.
    package var text: String {
        let program = table.page()
        var text = "# Command line\n\n" + paragraph(introduction)
        for section in table.sections {
            let links = section.commands.map { "[`\($0.name)`](#\(table.program)-\($0.name))" }
            let title = section.title.prefix(1).uppercased() + section.title.dropFirst()
            text += "\n" + wrapped("**\(title):** \(links.joined(separator: ", "))", width: Self.width)
        }
        text += "\n**Shared options**\n\n" + paragraph(sharedIntroduction)
        text += list((shared + [.init(.quiet), .init(.help), .init(.version)]).map { ($0.term, $0.meaning) })
        text += "\n**Exit codes**\n" + list(program.exitCodes.map { ($0.name, $0.help) })
        for topic in table.topics {
            let title = topic.name.prefix(1).uppercased() + topic.name.dropFirst()
            text += "\n**\(title)**\n" + list(topic.terms().map { ($0.name, $0.help) })
        }
        text += "\n**Environment**\n" + list(program.environment.map { ($0.name, $0.help) })
        text += "\n**Files**\n" + list(program.files.map { ($0.name, $0.help) })
        text += examples(program.examples)
        return text + commands.map(chapter).joined()
    }

    private var introduction: String {
        "The output of '\(table.program) man --markdown'. '\(table.program) COMMAND --help' shows one command, as does 'man \(table.program)-COMMAND'."
    }

    private var sharedIntroduction: String {
        let names = table.sharedOptions.map { "'\($0.name)'" }
            .joined(separator: ", ")
        return "The chapter of a command only names these. \(names) may precede the command."
    }
}

// MARK: Chapters

extension ReferenceDocument {
    private func chapter(_ path: [String], _ command: Command, _ details: CommandDetails) -> String {
        let name = ([table.program] + path).joined(separator: " ")
        var text = "\n\(path.count == 1 ? "##" : "###") \(name)\n\n"
        text += paragraph(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
        text += code([HelpPage(table: table, path: path).synopsis])
        for part in details.discussion + details.more { text += "\n" + paragraph(part) }
        let rows = details.ownOptions.map(Row.init)
        let own = rows.filter { first[$0] == path && !shared.contains($0) }
        text += list(details.operands.map { ($0.name, $0.help) } + own.map { ($0.term, $0.meaning) })
        let others = rows.filter { !own.contains($0) }
        if !others.isEmpty { text += "\n" + paragraph(of: others) }
        return text + examples(details.examples)
    }

    /// Names the options that are described elsewhere.
    private func paragraph(of rows: [Row]) -> String {
        var places: [String] = []
        var names: [String: [String]] = [:]
        for row in rows {
            let place = shared.contains(row) ? "Shared" : "As for `\(first[row, default: []].joined(separator: " "))`"
            if names[place] == nil { places.append(place) }
            names[place, default: []].append("`\(row.name)`")
        }
        let sentences = places.map { "\($0): \(names[$0, default: []].joined(separator: ", "))." }
        return wrapped(sentences.joined(separator: " "), width: Self.width)
    }

    /// A paragraph comes first: right after a list, the lines would belong to its last item.
    private func examples(_ examples: [Example]) -> String {
        if examples.isEmpty { return "" }
        return "\nExamples:\n" + code(examples.flatMap { ($0.comment.map { ["# \($0)"] } ?? []) + [$0.line] })
    }
}

// MARK: Markdown

extension ReferenceDocument {
    private static let width = 120

    private func list(_ rows: [(term: String, meaning: String)]) -> String {
        if rows.isEmpty { return "" }
        return "\n"
            + rows.map { "- " + wrapped("`\($0.term)`: \(escaped($0.meaning))", indent: 2, width: Self.width) }.joined()
    }

    private func code(_ lines: [String]) -> String { "\n" + lines.map { "    \($0)\n" }.joined() }

    private func paragraph(_ text: String) -> String { wrapped(escaped(text), width: Self.width) }

    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if "\\`*<".contains(character) { result += "\\" }
            result.append(character)
        }
        return result
    }
}
