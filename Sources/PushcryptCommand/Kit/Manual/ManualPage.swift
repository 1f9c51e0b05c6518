/// A page of the manual, in mdoc(7): the program's, a group's, or a command's.
package struct ManualPage {
    private let table: CommandTable
    private let path: [String]
    private let command: Command?
    private let details: CommandDetails?
    private let program: ProgramPage

    /// - Parameter path: The words of a command; empty for the program itself.
    package init(table: CommandTable, path: [String]) {
        self.table = table
        self.path = path
        command = table.command(at: path)
        details = command?.details(in: table)
        program = table.page()
    }

    package static func all(of table: CommandTable) -> [ManualPage] {
        ([[]] + table.paths).map { ManualPage(table: table, path: $0) }
    }

    /// The name of the page, such as `pushcrypt-device-add`.
    package var name: String { ([table.program] + path).joined(separator: "-") }

    /// The name of the page's file.
    package var file: String { name + ".1" }

    /// The whole page.
    package var text: String {
        var page = ".Dd \(program.date)\n.Dt \(name.uppercased()) 1\n.Os\n"
        page += ".Sh NAME\n.Nm \(name)\n.Nd \(Roff.argument(command?.summary ?? table.summary))\n"
        page += ".Sh SYNOPSIS\n" + synopsis
        page += section("DESCRIPTION", description)
        if let details {
            page += section("COMMANDS", references(details.subcommands))
            page += list("OPERANDS", details.operands.map { (".It Ar \(Roff.argument($0.name))", $0.help) })
            page += list("OPTIONS", (details.options + [.help]).map { (item($0), $0.meaning) })
        } else {
            for part in table.sections { page += section(part.title.uppercased(), references(part.commands)) }
            page += list("OPTIONS", (table.sharedOptions + [.help, .version]).map { (item($0), $0.meaning) })
            page += list("ENVIRONMENT", program.environment.map { (".It Ev \(Roff.argument($0.name))", $0.help) })
            page += list("FILES", program.files.map { (".It Pa \(Roff.argument($0.name))", $0.help) })
            for topic in table.topics {
                page += list(topic.name.uppercased(), topic.terms().map { (".It \(Roff.argument($0.name))", $0.help) })
            }
            page += list("EXIT STATUS", program.exitCodes.map { (".It \($0.name)", $0.help) })
        }
        page += section("EXAMPLES", examples(details?.examples ?? program.examples))
        return page + section("SEE ALSO", seeAlso)
    }
}

// MARK: Sections

extension ManualPage {
    private func section(_ title: String, _ text: String) -> String { text.isEmpty ? "" : ".Sh \(title)\n\(text)" }

    private func list(_ title: String, _ rows: [(item: String, meaning: String)]) -> String {
        section(title, list(rows))
    }

    private func list(_ rows: [(item: String, meaning: String)]) -> String {
        if rows.isEmpty { return "" }
        return ".Bl -tag -width Ds\n" + rows.map { $0.item + "\n" + Roff.paragraph($0.meaning) }.joined() + ".El\n"
    }

    private var synopsis: String {
        var lines = [".Nm \(table.program)"]
        guard let details, command?.body != nil else {
            if details == nil {
                lines.append(".Op Ar options")
            } else {
                lines.append(".Cm \(path.joined(separator: " "))")
            }
            return (lines + [".Ar COMMAND"]).joined(separator: "\n") + "\n"
        }
        lines.append(".Cm \(path.joined(separator: " "))")
        lines += details.options.filter(\.isRequired).map { ".\(flag($0.name))\(value($0))" }
        if details.takesOptions { lines.append(".Op Ar options") }
        for operand in details.operands {
            let name = Roff.argument(operand.name)
            switch operand.count {
            case .one: lines.append(".Ar \(name)")
            case .optional: lines.append(".Op Ar \(name)")
            case .any: lines.append(".Op Ar \(name) ...")
            case .atLeastOne: lines.append(".Ar \(name) ...")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var description: String {
        let paragraphs = details.map { $0.discussion + $0.more } ?? []
        if !paragraphs.isEmpty { return paragraphs.map(Roff.paragraph).joined(separator: ".Pp\n") }
        let summary = command?.summary ?? table.summary
        return Roff.paragraph(summary.prefix(1).uppercased() + summary.dropFirst() + ".")
    }

    private func references(_ commands: [Command]) -> String {
        list(commands.map { (".It Xr \(name)-\($0.name) 1", $0.summary) })
    }

    private func examples(_ examples: [Example]) -> String {
        var text = ""
        for example in examples {
            if let comment = example.comment {
                // A display adds space above it.
                if !text.isEmpty { text += ".Pp\n" }
                text += Roff.paragraph(comment.prefix(1).uppercased() + comment.dropFirst() + ":")
            }
            text += ".Bd -literal -offset indent\n" + Roff.literal(example.line) + ".Ed\n"
        }
        return text
    }

    /// The pages above this one.
    private var seeAlso: String {
        let above = path.indices.map { ([table.program] + path[..<$0]).joined(separator: "-") }
        return above.enumerated().map { ".Xr \($1) 1\($0 == above.count - 1 ? "" : " ,")\n" }.joined()
    }
}

// MARK: Options

extension ManualPage {
    private func item(_ option: Option) -> String {
        ".It " + (option.short.map { flag($0) + " , " } ?? "") + flag(option.name) + value(option)
    }

    /// The macro for an option. `Fl` writes the first dash.
    private func flag(_ name: String) -> String { "Fl \(Roff.argument(String(name.dropFirst())))" }

    private func value(_ option: Option) -> String { option.value.map { " Ar \(Roff.argument($0.name))" } ?? "" }
}
