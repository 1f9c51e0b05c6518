/// What a shell's script is told: a line that says which paths the shell is to offer otherwise, then a line for each candidate.
package struct CompletionAnswer {
    package let completion: Completion
    package let word: ShellLine.Word

    package init(completion: Completion, word: ShellLine.Word) {
        self.completion = completion
        self.word = word
    }

    /// For bash: what its line editor puts in the place of the part of the word that it replaces.
    package func bash(breaks: String) -> String {
        let start = String(word.replaced(breaks: breaks))
        let lines = completion.candidates.compactMap { candidate in
            word.rest(of: candidate.word).map { rest in
                // The line editor closes a quote, but not behind a character that looks like its end.
                let isClosed = word.quote == .none || rest.unicodeScalars.last != word.quote.rawValue
                return start + rest + (isClosed ? "" : String(word.quote.rawValue))
            }
        }
        return text(lines)
    }

    /// For zsh: the word, and what is shown for it. The script has put away the option in `--emit=apns`.
    package var zsh: String {
        let words = completion.candidates.map { candidate in
            candidate.word.hasPrefix("--")
                ? candidate.word.split(separator: "=", maxSplits: 1).last ?? "" : Substring(candidate.word)
        }
        let width = words.map(\.count).max() ?? 0
        return text(
            zip(words, completion.candidates).map { word, candidate in
                guard let help = candidate.help else { return "\(word)\t\(word)" }
                return "\(word)\t\(word)\(String(repeating: " ", count: width - word.count))  \(help)"
            })
    }

    /// For fish: the word, and what it says beside it.
    package var fish: String {
        text(completion.candidates.map { candidate in candidate.word + (candidate.help.map { "\t\($0)" } ?? "") })
    }

    private func text(_ lines: [String]) -> String {
        ([completion.paths.rawValue] + lines).joined(separator: "\n") + "\n"
    }
}
