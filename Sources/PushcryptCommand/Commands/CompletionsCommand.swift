internal import PushcryptCommandKit

struct CompletionsCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Completes commands, options, words and files, but no names of the key store. Nothing on the line is evaluated. After an update, write the script again.",
                "In ~/.bashrc: 'source <(pushcrypt completions bash)'. In ~/.zshrc, after compinit: 'source <(pushcrypt completions zsh)'. In config.fish: 'pushcrypt completions fish | source'.",
            ],
            examples: [
                Example("pushcrypt completions bash > ~/.local/share/bash-completion/completions/pushcrypt"),
                Example("pushcrypt completions zsh > ~/.zfunc/_pushcrypt", "a folder of fpath"),
            ])
    }

    private let shell: Shell
    private let table: CommandTable

    init(_ arguments: inout Arguments) {
        shell = arguments.operand("SHELL", placeholder: .bash, help: "bash (4.4 or later), zsh or fish")
        table = arguments.table
    }

    func run(_ console: Console) throws -> ExitCode {
        try console.write(Completions(table).script(for: shell))
        return .done
    }
}
