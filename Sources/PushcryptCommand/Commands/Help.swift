internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let help = Command(
        "help", "show how a command is used",
        about: "The word 'all' at the end shows everything. --json has all of it, for programs.",
        examples: ["pushcrypt help seal", "pushcrypt help seal all", "pushcrypt help exit-codes"]
    ) { a in
        let isJSON = a.json()
        let table = a.table
        let words = a.operands(
            "COMMAND", .command, help: "all words of the command, or exit-codes; default a list of all commands")
        return { console in
            if words == [CommandTable.exitCodes.name], !isJSON { return try console.write(CommandTable.exitCodesText) }
            let isWhole = words.last == "all"
            let path = try Parser(table: table).path(of: isWhole ? words.dropLast() : words)
            if isJSON {
                try console.write(line: CommandListing(table, below: path).json)
            } else {
                try console.write(HelpPage(table: table, path: path, isWhole: isWhole).text)
            }
        }
    }

    static let completions = Command(
        "completions", "print the script that completes this program in a shell",
        about: """
            Completes commands, options, words and files, but no names of the key store. Nothing on the line is evaluated. After an update, write the script again.
            In ~/.bashrc: 'source <(pushcrypt completions bash)'. In ~/.zshrc, after compinit: 'source <(pushcrypt completions zsh)'. In config.fish: 'pushcrypt completions fish | source'.
            """,
        examples: [
            "pushcrypt completions bash > ~/.local/share/bash-completion/completions/pushcrypt",
            Example("pushcrypt completions zsh > ~/.zfunc/_pushcrypt", "a folder of fpath"),
        ]
    ) { a in
        let table = a.table
        let shell: Shell = a.operand("SHELL", placeholder: .bash, help: "bash (4.4 or later), zsh or fish")
        return { console in
            try console.write(Completions(table).script(for: shell))
        }
    }
}

/// All help texts, for programs: the manual is made from them.
struct CommandListing {
    private let table: CommandTable
    private let path: [String]
    private let paths: [[String]]

    init(_ table: CommandTable, below path: [String] = []) {
        self.table = table
        self.path = path
        paths = table.paths.filter { $0.starts(with: path) }
    }

    /// The commands that run, or the groups of others.
    private func commands(_ isRun: Bool) -> [(path: [String], command: Command)] {
        paths.compactMap { path in table.command(at: path).map { (path, $0) } }.filter { $1.isGroup != isRun }
    }

    var json: ContiguousArray<UInt8> {
        jsonObject { json in
            json.string(table.version(), for: "version")
            if path.isEmpty { json.object(for: "program", write) }
            for (name, isRun) in [("groups", false), ("commands", true)] {
                json.array(for: name) { json in
                    for (path, command) in commands(isRun) { json.object { write(command, path, to: &$0) } }
                }
            }
            json.integer(commands(true).count, for: "command_count")
        }
    }

    private func write(to json: inout JSONWriter) {
        write([], table.summary, about: [], table.sections.flatMap(\.commands), table.examples, to: &json)
        write(table.sharedOptions + [.help, .version], to: &json)
        json.object(for: "topics") { json in
            write(table.environment.map { ($0, $1) }, for: "environment", to: &json)
            write(table.files.map { ($0, $1) }, for: "files", to: &json)
            write(CommandTable.exitCodeTerms.map { ($0, $1) }, for: "exit-status", to: &json)
        }
    }

    private func write(_ command: Command, _ path: [String], to json: inout JSONWriter) {
        let declarations = command.declarations(in: table)
        write(
            path, command.summary, about: command.about + command.more, command.subcommands, command.examples,
            to: &json)
        write(declarations.operands.map { ($0.name, $0.help) }, for: "operands", to: &json)
        write(declarations.options + [.help], to: &json)
    }

    private func write(
        _ path: [String], _ summary: String, about: [String], _ commands: [Command], _ examples: [Example],
        to json: inout JSONWriter
    ) {
        let name = ([table.program] + path).joined(separator: " ")
        json.string(name, for: "name")
        json.string(summary, for: "summary")
        json.string(HelpPage(table: table, path: path).synopsis, for: "usage")
        json.strings(about, for: "about")
        if !commands.isEmpty { write(commands.map { ("\(name) \($0.name)", $0.summary) }, for: "commands", to: &json) }
        json.array(for: "examples") { json in
            for example in examples {
                json.object { json in
                    json.string(example.line, for: "line")
                    if let comment = example.comment { json.string(comment, for: "comment") }
                }
            }
        }
    }

    private func write(_ terms: [(String, String)], for name: String, to json: inout JSONWriter) {
        json.array(for: name) { json in
            for (term, meaning) in terms {
                json.object { json in
                    json.string(term, for: "name")
                    json.string(meaning, for: "help")
                }
            }
        }
    }

    private func write(_ options: [Option], to json: inout JSONWriter) {
        json.array(for: "options") { json in
            for option in options {
                json.object { json in
                    json.string(option.name, for: "name")
                    if let short = option.short { json.string(short, for: "short") }
                    if let value = option.value { json.string(value.name, for: "value") }
                    if let group = option.group { json.string(group, for: "group") }
                    json.string(option.meaning, for: "help")
                }
            }
        }
    }
}
