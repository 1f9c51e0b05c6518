internal import PushcryptCommandKit

extension Arguments {
    fileprivate mutating func shell(help: String) -> Shell { operand("SHELL", placeholder: .bash, help: help) }
}

struct CompletionsCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Completes commands, options, values, files, and the names in the key store; a store with a passphrase offers none. Nothing on the line is evaluated. The script asks the program at each key press, so it fits every later version.",
                "In ~/.bashrc: 'source <(pushcrypt completions bash)'. In ~/.zshrc, after compinit: 'source <(pushcrypt completions zsh)'. In config.fish: 'pushcrypt completions fish | source'.",
            ],
            examples: [
                Example("pushcrypt completions bash > ~/.local/share/bash-completion/completions/pushcrypt"),
                Example("pushcrypt completions zsh > ~/.zfunc/_pushcrypt", "a folder of fpath"),
            ])
    }

    private let shell: Shell
    private let program: String

    init(_ arguments: inout Arguments) {
        shell = arguments.shell(help: "bash (4.4 or later), zsh or fish")
        program = arguments.table.program
    }

    func run(_ console: Console) throws -> ExitCode {
        try console.write(shell.script(for: program))
        return .done
    }
}

/// `complete`, which the scripts call.
struct CompleteCommand: CommandBody {
    /// Longer than any typed line.
    private static let maximumLine = 1 << 20

    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads from standard input the line up to the cursor and, for bash, its COMP_WORDBREAKS, with a NUL after each."
            ],
            examples: [Example("printf 'pushcrypt se\\0' | pushcrypt complete fish")])
    }

    private let shell: Shell
    private let table: CommandTable

    init(_ arguments: inout Arguments) {
        shell = arguments.shell(help: "the shell that asks")
        table = arguments.table
    }

    func run(_ console: Console) throws -> ExitCode {
        let input = try console.read("-", limit: Self.maximumLine, mayBeEmpty: true).split(
            separator: 0, omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }
        let line = ShellLine(input[0], of: shell, home: console.variable("HOME"))
        if line.isRedirection {
            try console.write(Completion.Paths.files.rawValue + "\n")
            return .done
        }
        // Variables may be set before the program's name.
        let words = line.words.drop { $0.text.contains("=") }.dropFirst()
        let point = CompletionPoint(table, after: words)
        let completion = point.completion(of: line.current) { point.names($0, startingWith: $1, console) }
        let answer = CompletionAnswer(completion: completion, word: line.current)
        switch shell {
        case .bash: try console.write(answer.bash(breaks: input.count > 1 ? input[1] : ""))
        case .zsh: try console.write(answer.zsh)
        case .fish: try console.write(answer.fish)
        }
        return .done
    }
}
