extension Shell {
    /// The script that makes the shell run `program complete`, which answers from the table and the store.
    ///
    /// The typed line goes to standard input unchanged, and the answer is read as words: neither is evaluated, and no other
    /// user sees an argument. The program is found in PATH; it is never a path that is being typed.
    package func script(for program: String) -> String {
        switch self {
        case .bash: Self.bash(program)
        case .zsh: Self.zsh(program)
        case .fish: Self.fish(program)
        }
    }

    private static func bash(_ program: String) -> String {
        #"""
        # Completes \#(program) in bash 4.4 or later. In ~/.bashrc:  source <(\#(program) completions bash)

        _\#(program)() {
            local -a answer
            mapfile -t answer < <(
                printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" | command \#(program) complete bash 2>/dev/null
            )
            COMPREPLY=("${answer[@]:1}")
            case ${answer[0]-} in
            files) compopt -o default ;;
            folders) compopt -o dirnames ;;
            esac
        }
        complete -F _\#(program) \#(program)

        """#
    }

    private static func zsh(_ program: String) -> String {
        #"""
        #compdef \#(program)
        # Completes \#(program) in zsh. As a file _\#(program) in a folder of fpath, or in ~/.zshrc, after compinit:
        #     source <(\#(program) completions zsh)

        _\#(program)() {
            emulate -L zsh
            local -a answer words_before found shown
            local line row
            words_before=("${(@)words[1,CURRENT-1]}")
            line="${(j: :)words_before} $QIPREFIX$IPREFIX$PREFIX"
            answer=("${(@f)$(printf '%s\0' "$line" | command \#(program) complete zsh 2>/dev/null)}")
            for row in "${(@)answer[2,-1]}"; do
                found+=("${row%%$'\t'*}")
                shown+=("${row#*$'\t'}")
            done
            [[ $PREFIX != --*=* ]] || compset -P 1 '*='
            if (( $#found == 0 )); then
                case $answer[1] in
                files) _files ;;
                folders) _files -/ ;;
                esac
            elif [[ "$found" == "$shown" ]]; then
                compadd -a found
            else
                compadd -l -d shown -a found
            fi
        }

        if [[ ${funcstack[1]-} == _\#(program) ]]; then
            _\#(program) "$@"
        else
            compdef _\#(program) \#(program)
        fi

        """#
    }

    private static func fish(_ program: String) -> String {
        #"""
        # Completes \#(program) in fish. As ~/.config/fish/completions/\#(program).fish, or in config.fish:
        #     \#(program) completions fish | source

        function __\#(program)_answer
            set -l line (commandline -cp | string collect)
            printf '%s\0' $line | command \#(program) complete fish 2>/dev/null
        end

        function __\#(program)_words
            set -l answer (__\#(program)_answer)
            set -e answer[1]
            test (count $answer) -eq 0; or printf '%s\n' $answer
        end

        function __\#(program)_paths
            set -l answer (__\#(program)_answer)
            contains -- "$answer[1]" files folders
        end

        complete -c \#(program) -e
        complete -c \#(program) -f -k -a '(__\#(program)_words)'
        complete -c \#(program) -n __\#(program)_paths -F

        """#
    }
}

/// The answer to a shell's script: a line with the kind of paths that the shell adds, then a line for each candidate.
package struct CompletionAnswer {
    package let completion: Completion
    package let word: ShellLine.Word

    package init(completion: Completion, word: ShellLine.Word) {
        self.completion = completion
        self.word = word
    }

    /// The answer for bash, whose line editor replaces the part of the word after the last break.
    package func bash(breaks: String) -> String {
        let start = String(word.replaced(breaks: breaks))
        let lines = completion.candidates.compactMap { candidate in
            word.rest(of: candidate.word).map { rest in
                // The line editor closes a quote, except after a character that looks like its end.
                let isClosed = word.quote == .none || rest.unicodeScalars.last != word.quote.rawValue
                return start + rest + (isClosed ? "" : String(word.quote.rawValue))
            }
        }
        return text(lines)
    }

    /// The answer for zsh: each word, and its display text. The script has removed the option from `--emit=apns`.
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

    /// The answer for fish: each word, and its description.
    package var fish: String {
        text(completion.candidates.map { candidate in candidate.word + (candidate.help.map { "\t\($0)" } ?? "") })
    }

    private func text(_ lines: [String]) -> String {
        ([completion.paths.rawValue] + lines).joined(separator: "\n") + "\n"
    }
}
