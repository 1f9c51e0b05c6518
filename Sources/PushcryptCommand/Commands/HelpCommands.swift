internal import PushcryptCommandKit

struct HelpCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(examples: [Example("pushcrypt help seal")])
    }

    private let words: [String]
    private let table: CommandTable

    init(_ arguments: inout Arguments) {
        words = arguments.operands(
            "COMMAND", .command, help: "all words of the command; default a list of all")
        table = arguments.table
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let path = try Parser(table: table).path(of: words)
        try console.write(HelpPage(table: table, path: path).text)
        return .done
    }
}

/// `man`.
struct ManualCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Prints a command's page for manual viewers; without a command, the program's."
            ],
            examples: [
                Example("pushcrypt man seal | man -l -"),
                Example("pushcrypt man -o man/man1", "every page"),
            ])
    }

    private let words: [String]
    private let folder: String?
    private let isMarkdown: Bool
    private let table: CommandTable

    init(_ arguments: inout Arguments) {
        words = arguments.operands("COMMAND", .command, help: "all words of the command")
        folder = arguments.value(
            "--output", short: "-o", "DIR", .folder, help: "write every page into this existing folder")
        isMarkdown = arguments.flag("--markdown", help: "print everything as one document")
        table = arguments.table
        arguments.atMostOne(of: "--output", "--markdown")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let path = try Parser(table: table).path(of: words)
        if !path.isEmpty, folder != nil || isMarkdown {
            throw .usage(
                "\(isMarkdown ? "--markdown" : "--output") is for all commands",
                hint: "leave \(quoted(path.joined(separator: " "))) out")
        }
        if let folder {
            for page in ManualPage.all(of: table) {
                let bytes = ContiguousArray(page.text.utf8)
                try OutputFile.write(bytes.span, to: "\(folder)/\(page.file)", mode: 0o666, force: true)
            }
        } else if isMarkdown {
            try console.write(ReferenceDocument(table: table).text)
        } else {
            try console.write(ManualPage(table: table, path: path).text)
        }
        return .done
    }
}
