#!/usr/bin/env bash
# Tests `make install` and `make uninstall`: the files below a prefix and their modes, that `man` and three shells find
# them, and that nothing is left afterwards.
# Usage: install.sh PROGRAM      a command that was built
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/stage/opt/push

fail() {
    echo "FAILED: install: $1" >&2
    exit 1
}

# With SUDO_UID it only copies, and builds nothing.
run() { make -s "$@" SUDO_UID=0 PROGRAM="$program" DESTDIR="$folder/stage" PREFIX=/opt/push >"$folder/log" 2>&1; }

files() { (cd "$folder/stage" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k 2); }

mkdir -p "$prefix/share/man/man1" "$prefix/bin"
echo other >"$prefix/bin/other"
echo old >"$prefix/share/man/man1/pushcrypt-gone.1"
umask 077
run install || fail "$(cat "$folder/log")"

names='help = json.load(sys.stdin); print(*[one["name"].replace(" ", "-") for one in [help["program"], *help["groups"], *help["commands"]]], sep="\n")'
expected=$(
    {
        echo "755 opt/push/bin/pushcrypt"
        echo "755 opt/push/bin/pushcrypt-send"
        echo "644 opt/push/bin/other"
        echo "644 opt/push/share/bash-completion/completions/pushcrypt"
        echo "644 opt/push/share/fish/vendor_completions.d/pushcrypt.fish"
        echo "644 opt/push/share/zsh/site-functions/_pushcrypt"
        for file in dashboard.json rules.yml; do echo "644 opt/push/share/doc/pushcrypt-send/monitoring/pushcrypt-send.$file"; done
        (cd Docs && find . -name '*.md' -printf '644 opt/push/share/doc/pushcrypt/Docs/%P\n')
        "$program" help --json | python3 -c "import json, sys; $names" | sed 's|.*|644 opt/push/share/man/man1/&.1|'
    } | LC_ALL=C sort -k 2
)
[ "$(files)" = "$expected" ] || fail "other files than expected: $(diff <(echo "$expected") <(files))"
[ "$(find "$folder/stage" -type d ! -perm -055 | wc -l)" -eq 0 ] || fail 'a folder that others cannot enter'

# As at a login: the command is in the path, and everything else is found from that or from the data folders.
PATH=$prefix/bin:$PATH
export PATH
[ "$(pushcrypt --version)" = "$("$program" --version)" ] || fail 'another command is installed'
if command -v man >/dev/null; then
    for page in pushcrypt pushcrypt-seal pushcrypt-key-new-provider; do
        found=$(env -u MANPATH man -w "$page" 2>&1) || fail "man does not find $page: $found"
        [ "$(realpath "$found")" = "$(realpath "$prefix")/share/man/man1/$page.1" ] || fail "man finds $page elsewhere: $found"
    done
else
    echo 'SKIPPED: install: there is no man that could look for a page'
fi
bash --norc -c "source '$prefix/share/bash-completion/completions/pushcrypt' && complete -p pushcrypt" >/dev/null ||
    fail 'bash does not complete the command'
found=$(zsh -f -c "fpath=('$prefix/share/zsh/site-functions' \$fpath); autoload -Uz compinit; compinit -D -u; print \$_comps[pushcrypt]")
[ "$found" = _pushcrypt ] || fail 'zsh does not complete the command'
found=$(HOME=$folder XDG_DATA_DIRS=$prefix/share fish -c 'complete -C "pushcrypt doct"' 2>&1)
[[ $found == doctor* ]] || fail "fish does not complete the command: $found"

run uninstall || fail "$(cat "$folder/log")"
[ "$(files)" = "644 opt/push/bin/other" ] || fail "uninstall leaves $(files)"
run install SEND=0 || fail "$(cat "$folder/log")"
[ "$(files)" = "$(grep -v "pushcrypt-send\($\|/\)" <<<"$expected")" ] || fail "with SEND=0: $(files)"
run uninstall || fail "$(cat "$folder/log")"

make -s install SUDO_UID=0 PROGRAM="$folder/none" DESTDIR="$folder/stage" 2>"$folder/log" && fail 'a command that is not there was installed'
grep -q 'run `make build` first' "$folder/log" || fail "$(cat "$folder/log")"
echo "install: $(wc -l <<<"$expected") files below a prefix, found by man and the shells, and removed"
