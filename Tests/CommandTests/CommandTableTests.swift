import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The rules that every entry of the table keeps, checked on the product's table and on the sample.
@Suite struct CommandTableTests {
    struct Entry: CustomStringConvertible {
        let table: CommandTable
        let path: [String]
        let command: Command

        var declarations: Arguments { command.declarations(in: table) }

        var description: String { path.joined(separator: " ") }
    }

    static var entries: [Entry] {
        func walk(_ table: CommandTable, _ commands: [Command], under path: [String]) -> [Entry] {
            commands.flatMap { command in
                [Entry(table: table, path: path + [command.name], command: command)]
                    + walk(table, command.subcommands, under: path + [command.name])
            }
        }
        return [.pushcrypt, .sample].flatMap { walk($0, $0.commands, under: []) }
    }

    @Test("Names are lower case and unique, summaries are one line without a full stop", arguments: entries)
    func names(entry: Entry) {
        let command = entry.command
        #expect(isWord(command.name))
        #expect(isPhrase(command.summary))
        #expect(Set(command.subcommands.map(\.name)).count == command.subcommands.count)
        let details = entry.declarations
        for option in details.options {
            #expect(option.name.hasPrefix("--") && isWord(String(option.name.dropFirst(2))))
            #expect(option.short.map { $0.utf8.count == 2 && $0.hasPrefix("-") } ?? true)
            #expect(isPhrase(option.help))
            #expect(option.value.map { $0.name == $0.name.uppercased() } ?? true)
        }
        let names = (details.options + [.help]).flatMap { [$0.name] + ($0.short.map { [$0] } ?? []) }
        #expect(Set(names).count == names.count)
        for operand in details.operands {
            #expect(operand.name == operand.name.uppercased())
            #expect(isPhrase(operand.help))
        }
        #expect(Set(details.operands.map(\.name)).count == details.operands.count)
    }

    @Test("Operands are distinguished by their places: required, then optional, then one repeated", arguments: entries)
    func operands(entry: Entry) {
        let counts = entry.declarations.operands.map(\.count)
        let ranks = counts.map { $0 == .one ? 0 : $0 == .optional ? 1 : 2 }
        #expect(ranks == ranks.sorted())
        #expect(ranks.count { $0 == 2 } <= 1)
        #expect(!counts.contains(.atLeastOne) || !counts.contains(.optional))
    }

    @Test("An option that a command shares with others means the same in it", arguments: entries)
    func sharedOptions(entry: Entry) {
        for option in entry.declarations.options {
            guard let shared = entry.table.sharedOptions.first(where: { $0.name == option.name }) else { continue }
            #expect(option.help == shared.help)
            #expect(option.synopsis == shared.synopsis)
        }
    }

    @Test("A command that runs has an example, and every example is understood and read", arguments: entries)
    func examples(entry: Entry) throws {
        #expect(!entry.command.examples.isEmpty || entry.command.isGroup)
        for example in entry.command.examples { try check(example, of: entry.table) }
        for example in entry.table.examples { try check(example, of: entry.table) }
    }

    /// Reads the program's part of every stage of a pipe, without what the shell does with it.
    private func check(_ example: Example, of table: CommandTable) throws {
        var found = 0
        for stage in example.line.split(separator: "|") {
            var words = stage.split(separator: " ").map { String($0.filter { $0 != "'" && $0 != "\"" }) }
            // The sample table shares its `help` with the product.
            guard words.first == table.program || words.first == "pushcrypt" else { continue }
            if let redirection = words.firstIndex(where: { $0.hasPrefix("<") || $0.hasPrefix(">") }) {
                words.removeSubrange(redirection...)
            }
            found += 1
            #expect(throws: Never.self, "\(example.line)") {
                let request = try Parser(table: table).parse(Array(words.dropFirst()))
                if case .command(_, let arguments) = request { checkReading(arguments) }
            }
        }
        #expect(found > 0, "\(example.line)")
    }

    /// A command declares the same whether its values are read or not.
    private func checkReading(_ arguments: Arguments) {
        let declared = arguments.table.command(at: arguments.path)?.declarations(in: arguments.table)
        #expect(declared?.options.map(\.name) == arguments.options.map(\.name))
        #expect(declared?.operands.map(\.name) == arguments.operands.map(\.name))
    }

    @Test("A page of help has at most 60 lines", arguments: entries)
    func length(entry: Entry) {
        let page = HelpPage(table: entry.table, path: entry.path).text
        // No page says less than `--help all`.
        let whole = HelpPage(table: entry.table, path: entry.path, isWhole: true).text
        for option in entry.declarations.options { #expect(whole.contains(option.name)) }
        #expect(whole.utf8.count >= page.utf8.count - 100)
        #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 61, "\(page)")
    }

    @Test("A document that a page names is one of those that are installed", arguments: entries)
    func documents(entry: Entry) {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = HelpPage(table: entry.table, path: entry.path, isWhole: true).text
        for word in page.split(whereSeparator: { " \n()".contains($0) }) where word.hasPrefix("Docs/") {
            let file = word.prefix { $0 != "," && $0 != ":" }.trimmingCharacters(in: ["."])
            #expect(FileManager.default.fileExists(atPath: root.appending(path: file).path), "\(file)")
        }
    }

    private func isWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            }
    }

    private func isPhrase(_ text: String) -> Bool {
        !text.isEmpty && !text.hasSuffix(".") && !text.contains("\n") && text.first?.isUppercase == false
    }
}
