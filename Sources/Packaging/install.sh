#!/usr/bin/env bash
# The stripped command, a manual page for each command, and completions, below a prefix. The only list of installed
# files: `make install`, `make uninstall` and package.sh use it.
# Usage: install.sh install PROGRAM PREFIX [ZSH-FOLDER]      ZSH-FOLDER below share/zsh: site-functions, unless it is given
#        install.sh send PROGRAM PREFIX                      the stripped program behind `pushcrypt send`
#        install.sh remove PREFIX                            what these have put there, and nothing else
set -euo pipefail
umask 022

pages=share/man/man1

# Each shell's own folder.
completions() {
    echo "bash share/bash-completion/completions/pushcrypt"
    echo "zsh share/zsh/${1:-site-functions}/_pushcrypt"
    echo "fish share/fish/vendor_completions.d/pushcrypt.fish"
}

remove_pages() { rm -f "$1/$pages/pushcrypt.1" "$1/$pages"/pushcrypt-*.1; }

case ${1:-} in
install)
    program=$2 prefix=$3
    install -d "$prefix/bin" "$prefix/$pages"
    install -s -m 755 "$program" "$prefix/bin/pushcrypt"
    # Pages of an earlier version may describe removed commands.
    remove_pages "$prefix"
    "$program" man --out "$prefix/$pages"
    completions "${4:-}" | while read -r shell file; do
        install -d "$prefix/${file%/*}"
        "$program" completions "$shell" >"$prefix/$file"
    done
    ;;
send)
    install -d "$3/bin"
    install -s -m 755 "$2" "$3/bin/pushcrypt-send"
    ;;
remove)
    prefix=$2
    rm -f "$prefix/bin/pushcrypt" "$prefix/bin/pushcrypt-send"
    remove_pages "$prefix"
    completions | while read -r _ file; do rm -f "$prefix/$file"; done
    ;;
*)
    sed -n '4,6s/^# //p' "$0" >&2
    exit 64
    ;;
esac
