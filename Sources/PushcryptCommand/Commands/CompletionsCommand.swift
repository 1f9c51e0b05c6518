internal import PushcryptCommandKit

extension Command {
    static let completions = Command(
        "completions", "print the script that completes this program in a shell",
        about: [
            "Completes commands, options, words and files, but no names of the key store. Nothing on the line is evaluated. After an update, write the script again.",
            "In ~/.bashrc: 'source <(pushcrypt completions bash)'. In ~/.zshrc, after compinit: 'source <(pushcrypt completions zsh)'. In config.fish: 'pushcrypt completions fish | source'.",
        ],
        examples: [
            "pushcrypt completions bash > ~/.local/share/bash-completion/completions/pushcrypt",
            Example("pushcrypt completions zsh > ~/.zfunc/_pushcrypt", "a folder of fpath"),
        ]
    ) { a in
        let table = a.table
        let shell: Shell = a.operand("SHELL", placeholder: .bash, help: "bash (4.4 or later), zsh or fish")
        return { console in
            try console.write(Completions(table).script(for: shell))
            return .done
        }
    }
}
