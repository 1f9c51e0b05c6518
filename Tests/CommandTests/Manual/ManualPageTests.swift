import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct ManualPageTests {
    @Test("The command prints the page of a command, and of the program")
    func command() throws {
        let page = try outcome(["man", "device", "add"], table: .pushcrypt)
        #expect(page.exit == .done)
        #expect(page.output == ManualPage(table: .pushcrypt, path: ["device", "add"]).text)
        #expect(try outcome(["man"], table: .pushcrypt).output.contains(".Dt PUSHCRYPT 1\n"))
        #expect(try outcome(["man", "devise"], table: .pushcrypt).exit == .usage)
    }

    @Test(
        "Text is escaped for roff, each sentence on a new line",
        arguments: [
            ("a.  b? c", "a.\nb?\nc\n"), (".Sh it's", "\\&.Sh it\\(aqs\n"),
            ("--to-user x-y -o", "\\-\\-to\\-user x-y \\-o\n"),
            ("a\\b \"c\" ~ ^ `", "a\\eb \\(dqc\\(dq \\(ti \\(ha \\(ga\n"), ("pcr1… 아", "pcr1\\[u2026] \\[uC544]\n"),
            ("(so.) 'b.' c", "(so.)\n\\(aqb.\\(aq\nc\n"),
            (
                String(repeating: "word ", count: 20),
                String(repeating: "word ", count: 14) + "word\nword word word word word\n"
            ),
        ])
    func roff(text: String, roff: String) {
        #expect(Roff.paragraph(text) == roff)
    }

    @Test(
        "An argument has no meaning to mdoc",
        arguments: [("REF", "\\&REF"), ("FILE", "FILE"), ("N", "N"), ("Op", "\\&Op"), ("|", "\\&|")])
    func argument(text: String, roff: String) {
        #expect(Roff.argument(text) == roff)
    }

    @Test("There is a page for the program and for every command, and no other is referred to")
    func pages() throws {
        let pages = ManualPage.all(of: .pushcrypt)
        #expect(pages.count == CommandTable.pushcrypt.paths.count + 1)
        #expect(pages.contains { $0.file == "pushcrypt.1" } && pages.contains { $0.file == "pushcrypt-device-add.1" })
        for page in pages {
            let references = page.text.split(separator: "\n").compactMap { line -> String? in
                let words = line.split(separator: " ")
                return words.firstIndex(of: "Xr").map { String(words[$0 + 1]) }
                    ?? (words.first == ".Xr" ? String(words[1]) : nil)
            }
            #expect(!references.isEmpty)
            for name in references { #expect(pages.contains { $0.name == name }, "\(page.name): \(name)") }
        }
    }

    @Test("mandoc has nothing to say against any page")
    func lint() throws {
        guard
            let mandoc = ["/usr/bin/mandoc", "/opt/homebrew/bin/mandoc"].first(
                where: FileManager.default.isExecutableFile)
        else { return print("SKIPPED: mandoc -T lint: it is not installed: Tests/Checks/setup.sh test") }
        let directory = try TemporaryDirectory()
        #expect(try outcome(["man", "-o", directory.path], table: .pushcrypt).exit == .done)
        let files = try directory.names
        #expect(files == ManualPage.all(of: .pushcrypt).map(\.file).sorted())
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: mandoc)
        process.arguments = ["-T", "lint"] + files
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let said = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        // The pages are not installed where it looks for them; `pages` checks what they refer to.
        let findings = said.split(separator: "\n").filter { !$0.contains("referenced manual not found: Xr pushcrypt") }
        #expect(findings == [])
    }

    @Test("All pages, or all in one document, have no command", arguments: [["--output", "."], ["--markdown"]])
    func refused(options: [String]) throws {
        let outcome = try outcome(["man", "seal"] + options, table: .pushcrypt)
        #expect(outcome.exit == .usage)
        #expect(outcome.messages.hasPrefix("pushcrypt: error: \(options[0]) is for all commands\n"))
    }
}

@Suite struct ReferenceDocumentTests {
    @Test("The document has a chapter for every command")
    func document() throws {
        let written = try outcome(["man", "--markdown"], table: .pushcrypt)
        #expect(written.exit == .done)
        let lines = written.output.components(separatedBy: "\n")
        let chapters = lines.filter { $0.hasPrefix("##") }.map { $0.drop { $0 == "#" }.dropFirst(" pushcrypt ".count) }
        #expect(chapters.map(String.init) == CommandTable.pushcrypt.paths.map { $0.joined(separator: " ") })
    }

    @Test("An option with two meanings is described once for each")
    func meanings() {
        let text = ReferenceDocument(table: .meanings).text
        let chapters = """
            ## sample first

            The first.

                sample first [options]

            See Docs/Sample.md.

            Shared: `--name`.

            ## sample second

            The second.

                sample second [options]

            Shared: `--name`.

            ## sample third

            The third.

                sample third [options]

            - `--name TEXT`: a new name

            ## sample fourth

            The fourth.

                sample fourth [options]

            As for `third`: `--name`.

            """
        #expect(text.hasSuffix("\n\n" + chapters))
        #expect(text.contains("\n- `--name TEXT`: a known name\n"))
    }
}

extension CommandTable {
    /// Four commands with one option, which has one meaning in the first two and another in the others.
    fileprivate static let meanings = CommandTable(
        program: "sample", summary: "a table with two meanings",
        sections: [
            Section(
                title: "names",
                commands: [
                    Command("first", "the first", KnownName.self), Command("second", "the second", KnownNameToo.self),
                    Command("third", "the third", NewName.self), Command("fourth", "the fourth", NewName.self),
                ])
        ],
        version: { "sample 7.0" },
        page: { ProgramPage(date: "May 1, 2024", examples: [], environment: [], files: [], exitCodes: []) },
        sharedOptions: { _ in }, check: { _ in })
}

private struct KnownName: CommandBody {
    static var page: CommandPage { CommandPage(discussion: ["See Docs/Sample.md."], examples: []) }

    init(_ arguments: inout Arguments) { _ = arguments.value("--name", "TEXT", help: "a known name") }

    func run(_ console: Console) -> ExitCode { .done }
}

private struct KnownNameToo: CommandBody {
    static var page: CommandPage { CommandPage(examples: []) }

    init(_ arguments: inout Arguments) { _ = arguments.value("--name", "TEXT", help: "a known name") }

    func run(_ console: Console) -> ExitCode { .done }
}

private struct NewName: CommandBody {
    static var page: CommandPage { CommandPage(examples: []) }

    init(_ arguments: inout Arguments) { _ = arguments.value("--name", "TEXT", help: "a new name") }

    func run(_ console: Console) -> ExitCode { .done }
}
