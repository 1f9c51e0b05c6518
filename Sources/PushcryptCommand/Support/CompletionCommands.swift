internal import PushcryptCommandKit

extension Command {
    static let completions = Command(
        "completions", "print the script that completes this program in a shell",
        discussion: [
            "Commands, options, values, files, and what the key store has names for: devices, users, keys and senders. A store with a passphrase offers no names, because nothing is asked for at a prompt.",
            "In ~/.bashrc: 'source <(pushcrypt completions bash)'. In ~/.zshrc, after compinit: 'source <(pushcrypt completions zsh)'. In config.fish: 'pushcrypt completions fish | source'.",
            "Nothing on the line is evaluated, and nothing is remembered: the script asks the program at each press of the key, so it fits every later version.",
        ],
        operands: [Operand("SHELL", .choice(Shell.allCases.map(\.rawValue)), help: "bash (4.4 or later), zsh or fish")],
        examples: [
            Example("pushcrypt completions bash > ~/.local/share/bash-completion/completions/pushcrypt"),
            Example("pushcrypt completions zsh > ~/.zfunc/_pushcrypt", "where fpath has the folder"),
            Example("pushcrypt completions fish > ~/.config/fish/completions/pushcrypt.fish"),
        ]
    ) { (invocation, console) throws(CommandFailure) in
        try console.write(Shell(rawValue: invocation.operand("SHELL"))?.script(for: invocation.table.program) ?? "")
        return .done
    }

    /// What the scripts ask.
    static let complete = Command(
        "complete", "say what may stand at the cursor of a command line",
        discussion: [
            "Reads from standard input the line up to the cursor and, for bash, its COMP_WORDBREAKS, with a NUL after each."
        ],
        operands: [Operand("SHELL", .choice(Shell.allCases.map(\.rawValue)), help: "which shell asks")],
        examples: [Example("printf 'pushcrypt se\\0' | pushcrypt complete fish")], run: runComplete)
}

/// More than anybody types.
private let maximumLine = 1 << 20

private func runComplete(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    guard let shell = Shell(rawValue: invocation.operand("SHELL")) else { return .usage }
    let input = try console.read("-", limit: maximumLine).split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    let line = ShellLine(input[0], of: shell, home: console.variable("HOME"))
    if line.isRedirection {
        try console.write(Completion.Paths.files.rawValue + "\n")
        return .done
    }
    // Before the program's name, variables may be set for it.
    let words = line.words.drop { $0.text.contains("=") }.dropFirst()
    let point = CompletionPoint(invocation.table, after: words)
    let completion = point.completion(of: line.current) { point.names($0, startingWith: $1, console) }
    let answer = CompletionAnswer(completion: completion, word: line.current)
    switch shell {
    case .bash: try console.write(answer.bash(breaks: input.count > 1 ? input[1] : ""))
    case .zsh: try console.write(answer.zsh)
    case .fish: try console.write(answer.fish)
    }
    return .done
}
