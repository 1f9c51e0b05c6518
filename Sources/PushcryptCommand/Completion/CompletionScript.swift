extension Shell {
    /// What makes the shell ask `pushcrypt complete`, which answers by the table and the store.
    ///
    /// What a person has typed goes to standard input as it is, and what comes back is taken as words: neither is evaluated,
    /// and no other user sees an argument. The program is the one in PATH, never a path that is being typed.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    private static let bashScript = #"""
        # Completes pushcrypt in bash 4.4 or later. In ~/.bashrc:  source <(pushcrypt completions bash)

        _pushcrypt() {
            local -a answer
            mapfile -t answer < <(
                printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" | command pushcrypt complete bash 2>/dev/null
            )
            COMPREPLY=("${answer[@]:1}")
            case ${answer[0]-} in
            files) compopt -o default ;;
            folders) compopt -o dirnames ;;
            esac
        }
        complete -F _pushcrypt pushcrypt

        """#

    private static let zshScript = #"""
        #compdef pushcrypt
        # Completes pushcrypt in zsh. As a file _pushcrypt in a folder of fpath, or in ~/.zshrc, after compinit:
        #     source <(pushcrypt completions zsh)

        _pushcrypt() {
            emulate -L zsh
            local -a answer words_before found shown
            local line row
            words_before=("${(@)words[1,CURRENT-1]}")
            line="${(j: :)words_before} $QIPREFIX$IPREFIX$PREFIX"
            answer=("${(@f)$(printf '%s\0' "$line" | command pushcrypt complete zsh 2>/dev/null)}")
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

        if [[ ${funcstack[1]-} == _pushcrypt ]]; then
            _pushcrypt "$@"
        else
            compdef _pushcrypt pushcrypt
        fi

        """#

    private static let fishScript = #"""
        # Completes pushcrypt in fish. As ~/.config/fish/completions/pushcrypt.fish, or in config.fish:
        #     pushcrypt completions fish | source

        function __pushcrypt_answer
            set -l line (commandline -cp | string collect)
            printf '%s\0' $line | command pushcrypt complete fish 2>/dev/null
        end

        function __pushcrypt_words
            set -l answer (__pushcrypt_answer)
            set -e answer[1]
            test (count $answer) -eq 0; or printf '%s\n' $answer
        end

        function __pushcrypt_paths
            set -l answer (__pushcrypt_answer)
            contains -- "$answer[1]" files folders
        end

        complete -c pushcrypt -e
        complete -c pushcrypt -f -k -a '(__pushcrypt_words)'
        complete -c pushcrypt -n __pushcrypt_paths -F

        """#
}
