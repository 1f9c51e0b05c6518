/// A shell that has completions.
package enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// The completion script of a program for a shell: commands, options, words and paths, as declared.
///
/// It offers no names from a store, which may come from users: bash expands what it offers.
package struct Completions {
    private let program: String
    /// The words of each command, with a space before each; none for the program itself.
    private let places: [Place]

    /// A command, or the program before it.
    private struct Place {
        let path: String
        let words: [Word]
        let options: [Option]
        let paths: Paths?
    }

    private typealias Word = (text: String, help: String)

    private enum Paths {
        case files, folders

        init?(_ kind: ValueKind?) {
            switch kind {
            case .input, .secret, .file: self = .files
            case .folder: self = .folders
            default: return nil
            }
        }
    }

    package init(_ table: CommandTable) {
        program = table.program
        let commands = table.commands.map { Word($0.name, $0.summary) }
        let start = Place(path: "", words: commands, options: table.sharedOptions + [.help, .version], paths: nil)
        places =
            [start]
            + table.paths.compactMap { path in
                guard let command = table.command(at: path) else { return nil }
                let declarations = command.declarations(in: table)
                let operands = declarations.operands.flatMap { operand -> [Word] in
                    if case .command = operand.kind {
                        commands + [Word(CommandTable.exitCodes.name, CommandTable.exitCodes.summary)]
                    } else {
                        Self.words(operand.kind).map { ($0, "") }
                    }
                }
                return Place(
                    path: path.map { " " + $0 }.joined(),
                    words: command.subcommands.map { ($0.name, $0.summary) } + operands,
                    options: declarations.options + [.help],
                    paths: declarations.operands.lazy.compactMap { Paths($0.kind) }.first
                )
            }
    }

    private static func words(_ kind: ValueKind?) -> [String] {
        switch kind {
        case .choice(let words): words
        case .known(let words): words()
        default: []
        }
    }

    package func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    // MARK: Places on the line

    /// The commands, as patterns that match one.
    private var commands: String { places.dropFirst().map { Self.quoted($0.path) }.joined(separator: "|") }

    /// The arms of `case` for the word after an option, and for any other word.
    private func arms(
        _ offer: (_ words: [Word], _ paths: Paths?) -> String
    ) -> (values: String, commands: String) {
        var values: [(offer: String, patterns: [String])] = []
        for place in places {
            for option in place.options {
                guard let value = option.value else { continue }
                let text = offer(Self.words(value.kind).map { ($0, "") }, Paths(value.kind))
                let patterns = [option.name, option.short].compactMap(\.self).map { Self.quoted("\(place.path) \($0)") }
                if let index = values.firstIndex(where: { $0.offer == text }) {
                    values[index].patterns += patterns
                } else {
                    values.append((text, patterns))
                }
            }
        }
        let commands = places.map { place in
            let words = place.words + place.options.map { ($0.name, $0.help) }
            return "        \(Self.quoted(place.path))) \(offer(words, place.paths)) ;;\n"
        }
        return (
            values.map { "    \($0.patterns.joined(separator: "|"))) \($0.offer) ;;\n" }.joined(), commands.joined()
        )
    }

    /// A word between quotation marks, for all three shells.
    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "’" : $0 == "\\" ? "/" : String($0) }.joined() + "'"
    }

    // MARK: Scripts

    private var bash: String {
        let (values, places) = arms { words, paths in
            let option = paths.map { "; paths=\($0 == .files ? "default" : "dirnames")" } ?? ""
            return "words=\(Self.quoted(words.map(\.text).joined(separator: " ")))\(option)"
        }
        return """
            # Completes \(program) in bash 4.4 or later. In ~/.bashrc:  source <(\(program) completions bash)

            _\(program)() {
                local command= last= word words= paths= current=${COMP_WORDS[COMP_CWORD]}
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    [[ $word != = ]] || continue
                    if [[ $last != --store ]]; then
                        case "$command $word" in
                        \(commands)) command+=" $word" ;;
                        esac
                    fi
                    last=$word
                done
                [[ $current != = ]] || current=
                case "$command $last" in
            \(values)    *)
                    case $command in
            \(places)        esac
                    ;;
                esac
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                [[ -z $paths ]] || compopt -o "$paths"
            }
            complete -F _\(program) \(program)

            """
    }

    private var zsh: String {
        let (values, places) = arms { words, paths in
            let option = paths.map { "; paths=\($0 == .files ? "_files" : "'_files -/'")" } ?? ""
            return "entries=(\(words.map { Self.quoted("\($0.text):\($0.help)") }.joined(separator: " ")))\(option)"
        }
        return """
            #compdef \(program)
            # Completes \(program) in zsh. As a file _\(program) in a folder of fpath, or in ~/.zshrc, after compinit:
            #     source <(\(program) completions zsh)

            _\(program)() {
                local command= last= word paths=
                local -a entries
                for word in "${(@)words[2,CURRENT-1]}"; do
                    if [[ $last != --store ]]; then
                        case "$command $word" in
                        \(commands)) command+=" $word" ;;
                        esac
                    fi
                    last=$word
                done
                if [[ $PREFIX == --*=* ]]; then
                    last=${PREFIX%%=*}
                    compset -P 1 '*='
                fi
                case "$command $last" in
            \(values)    *)
                    case $command in
            \(places)        esac
                    ;;
                esac
                (( $#entries == 0 )) || _describe \(program) entries
                ${=paths}
            }

            if [[ ${funcstack[1]-} == _\(program) ]]; then
                _\(program) "$@"
            else
                compdef _\(program) \(program)
            fi

            """
    }

    private var fish: String {
        func line(_ place: Place, _ rest: String) -> String {
            "complete -c \(program) -n \"__\(program)_at \(Self.quoted(place.path))\" \(rest)\n"
        }
        let folders = "-xa '(__fish_complete_directories)'"
        let lines = places.map { place in
            let options = place.options.map { option in
                var rest = "-l \(option.name.dropFirst(2))" + (option.short.map { " -s \($0.dropFirst())" } ?? "")
                if let value = option.value {
                    let words = Self.words(value.kind).joined(separator: " ")
                    rest +=
                        Paths(value.kind).map { $0 == .files ? " -rF" : " " + folders } ?? " -xa \(Self.quoted(words))"
                }
                return line(place, rest + " -d \(Self.quoted(option.help))")
            }
            let words = place.words.map { line(place, "-a \(Self.quoted($0.text)) -d \(Self.quoted($0.help))") }
            let paths = place.paths.map { line(place, $0 == .files ? "-F" : folders) }
            return (words + options).joined() + (paths ?? "")
        }
        return """
            # Completes \(program) in fish. As ~/.config/fish/completions/\(program).fish, or in config.fish:
            #     \(program) completions fish | source

            function __\(program)_at
                set -l command ''
                set -l last ''
                set -l words (commandline -opc)
                set -e words[1]
                for word in $words
                    if test "$last" != --store; and contains -- "$command $word" \(commands.split(separator: "|").joined(separator: " "))
                        set command "$command $word"
                    end
                    set last $word
                end
                test "$command" = "$argv[1]"
            end

            complete -c \(program) -e
            complete -c \(program) -f
            \(lines.joined())
            """
    }
}
