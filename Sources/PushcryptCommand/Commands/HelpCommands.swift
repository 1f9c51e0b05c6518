internal import Pushcrypt
internal import PushcryptCommandKit

struct HelpCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "The word 'all' at the end shows everything. --json lists the commands and their options, for programs."
            ],
            examples: [
                Example("pushcrypt help seal"), Example("pushcrypt help seal all"),
                Example("pushcrypt help exit-codes"),
            ])
    }

    private let words: [String]
    private let isJSON: Bool
    private let table: CommandTable

    init(_ arguments: inout Arguments) {
        words = arguments.operands(
            "COMMAND", .command, help: "all words of the command, or a topic; default a list of all commands")
        isJSON = arguments.json()
        table = arguments.table
    }

    func run(_ console: Console) throws -> ExitCode {
        if words.count == 1, !isJSON, let topic = table.allTopics.first(where: { $0.name == words[0] }) {
            try console.write(topic.text)
            return .done
        }
        let isWhole = words.last == "all"
        let path = try Parser(table: table).path(of: isWhole ? words.dropLast() : words)
        guard isJSON else {
            try console.write(HelpPage(table: table, path: path, isWhole: isWhole).text)
            return .done
        }
        try console.write(line: CommandListing(table, below: path).json)
        return .done
    }
}

/// Every command that runs, and its options, for programs.
struct CommandListing {
    let commands: [(name: String, summary: String, options: [Option])]

    init(_ table: CommandTable, below path: [String] = []) {
        commands = table.paths.filter { $0.starts(with: path) }.compactMap { path in
            guard let command = table.command(at: path), command.body != nil else { return nil }
            return (path.joined(separator: " "), command.summary, command.details(in: table).options)
        }
    }

    /// The names of all options, each once, in alphabetical order.
    var options: [String] { Set(commands.flatMap { $0.options.map(\.name) }).sorted() }

    var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.array(for: "commands") { json in
                for command in commands {
                    json.object { json in
                        json.string(command.name, for: "name")
                        json.string(command.summary, for: "summary")
                        json.array(for: "options") { json in
                            for option in command.options { json.string(option.name) }
                        }
                    }
                }
            }
            json.array(for: "options") { json in for name in options { json.string(name) } }
            json.integer(commands.count, for: "command_count")
            json.integer(options.count, for: "option_count")
        }
        return json.bytes
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

    func run(_ console: Console) throws -> ExitCode {
        let path = try Parser(table: table).path(of: words)
        if !path.isEmpty, folder != nil || isMarkdown {
            throw Failure.usage(
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
