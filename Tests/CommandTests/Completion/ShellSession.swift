import Foundation

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A person at the prompt of a real shell that completes: `pushcrypt` prints what it is given, and the script asks the real one.
final class ShellSession {
    private let shell: Shell
    private let terminal: PseudoTerminal
    private let process = Process()

    /// Makes a shell the leader of a session, without which it does not work with its terminal.
    private static let leader = "/usr/bin/setsid"

    /// Where a shell is; nil where it, or what starts it, is not installed.
    static func program(of shell: Shell) -> String? {
        guard FileManager.default.isExecutableFile(atPath: leader) else { return nil }
        return ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(shell.rawValue)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    init(_ shell: Shell, at program: String, in directory: TemporaryDirectory) throws {
        self.shell = shell
        terminal = try PseudoTerminal()
        let home = directory.file("home")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let arguments = try Self.start(shell, in: directory)
        process.executableURL = URL(filePath: Self.leader)
        process.arguments = ["--ctty", "--wait", program] + arguments
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.environment = programEnvironment([
            "HOME": home, "ZDOTDIR": directory.path, "TERM": "dumb", "LC_ALL": "C.UTF-8",
            "PATH": try builtProgram().deletingLastPathComponent().path + ":/usr/bin:/bin",
        ])
        process.standardInput = terminal.person
        process.standardOutput = terminal.person
        process.standardError = terminal.person
        try process.run()
        _ = terminal.shown(until: "READY")
    }

    deinit {
        // A shell ends with its terminal.
        try? terminal.keyboard.close()
        process.waitUntilExit()
    }

    /// Writes what the shell reads when it starts, and gives its arguments.
    private static func start(_ shell: Shell, in directory: TemporaryDirectory) throws -> [String] {
        let show = #"{ printf 'RAN'; printf '<%s>' "$@"; printf 'END\n'; }"#
        let size = "stty cols 300 rows 60"
        switch shell {
        case .bash:
            try directory.write(
                """
                \(size)
                bind 'set show-all-if-ambiguous on'; bind 'set page-completions off'
                PS1='$ '
                source <(command pushcrypt completions bash)
                pushcrypt() \(show)
                echo READ''Y

                """, to: "bashrc")
            return ["--noprofile", "--rcfile", directory.file("bashrc"), "-i"]
        case .zsh:
            try directory.write(
                """
                \(size)
                unsetopt beep prompt_cr prompt_sp
                PS1='$ '
                # Otherwise zsh itself evaluates a word before it completes it.
                bindkey '^I' complete-word
                autoload -Uz compinit && compinit -u -D
                source <(command pushcrypt completions zsh)
                pushcrypt() \(show)
                echo READ''Y

                """, to: ".zshrc")
            return ["-d", "-i"]
        case .fish:
            try directory.write(
                """
                \(size)
                function fish_prompt; echo '$ '; end
                function fish_greeting; end
                command pushcrypt completions fish | source
                function pushcrypt; printf RAN; printf '<%s>' $argv; printf 'END\\n'; end
                echo READ''Y

                """, to: "start.fish")
            return ["--no-config", "--init-command", "source start.fish", "-i"]
        }
    }

    /// Waits for the line editor, which shows itself what is typed; before that, a tab is a character of the line.
    private func atPrompt() { _ = terminal.wait(untilEchoes: false) }

    /// The program's arguments after typing this, tab and return.
    func run(_ line: String) -> String {
        atPrompt()
        terminal.type(line + "\t\r")
        let shown = terminal.shown(until: "END")
        guard let start = shown.range(of: "RAN", options: .backwards),
            let end = shown.range(of: "END", range: start.upperBound..<shown.endIndex)
        else { return "nothing ran; shown: \(shown.debugDescription)" }
        return String(shown[start.upperBound..<end.lowerBound])
    }

    /// The screen after typing this and tab, once all the words are there.
    func offers(_ line: String, _ words: [String]) -> String {
        atPrompt()
        guard shell != .fish else {
            // It shows no list on a terminal as plain as this one, and has a command that prints what it would show.
            terminal.type("complete -C '\(line)'; pushcrypt done\r")
            return terminal.shown(until: "<done>END")
        }
        terminal.type(line + "\t")
        var shown = terminal.shown(until: words[0])
        for word in words where !shown.contains(word) { shown += terminal.shown(until: word) }
        giveUp()
        return shown
    }

    /// Types this, presses tab, and gives it up.
    func abandon(_ line: String) {
        atPrompt()
        terminal.type(line + "\t")
        giveUp()
    }

    private func giveUp() {
        terminal.type("\u{5}\u{15}pushcrypt done\r")
        _ = terminal.shown(until: "<done>END")
    }
}
