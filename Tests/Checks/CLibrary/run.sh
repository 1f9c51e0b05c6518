#!/usr/bin/env bash
# Calls libpushcrypt.so as other languages do: from C (calls.c), from Python (calls.py), and through the examples in
# Sources/Languages/c/README.md. Called by `make nightly PART=library`, which builds library and command.
# COUNT=1000 makes the random part short; SEED=… runs the same again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
built=$root/.build/release
library=$built/libpushcrypt.so.0
include=$root/Sources/PushcryptC/include
pushcrypt=$built/pushcrypt

fail() {
    echo "library: error: $1" >&2
    exit 1
}

for file in "$library" "$pushcrypt"; do [ -f "$file" ] || fail "$file is missing: run make build LIBRARY=1"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# --- The file -------------------------------------------------------------------------------------------------------------------

shown=$(nm -D --defined-only --extern-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort | tr '\n' ' ')
[ "$shown" = 'pushcrypt_last_error pushcrypt_open pushcrypt_seal pushcrypt_version ' ] || fail "the library shows $shown"
# Exactly the functions of the header.
declared=$(sed -nE 's/^[a-z][a-z_ ]*[ *](pushcrypt_[a-z_]+)\(.*/\1/p' "$include/pushcrypt.h" | sort | tr '\n' ' ')
[ "$shown" = "$declared" ] || fail "the header declares $declared"
dynamic=$(readelf -dW "$library")
grep -q 'Library soname: \[libpushcrypt.so.0\]' <<<"$dynamic" || fail 'the library has another name'
grep -q 'NODELETE' <<<"$dynamic" || fail 'the library can be unloaded'
! grep -E 'RPATH|RUNPATH' <<<"$dynamic" || fail 'the library looks for others in a folder'
! grep -E 'NEEDED.*(swift|stdc)' <<<"$dynamic" || fail 'the library needs another that a system may lack'
echo 'library: it shows the four functions of its header'

# --- The header -----------------------------------------------------------------------------------------------------------------

strict=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
printf '#include <pushcrypt.h>\n' >"$work/header.c"
clang -std=c99 "${strict[@]}" -I "$include" -fsyntax-only "$work/header.c"
clang -x c++ -std=c++98 -Wno-long-long "${strict[@]}" -I "$include" -fsyntax-only "$work/header.c"
version=$("$pushcrypt" --version | cut -d ' ' -f 2)
grep -q "#define PUSHCRYPT_VERSION \"$version\"" "$include/pushcrypt.h" || fail "the header is not of version $version"

# --- The examples ---------------------------------------------------------------------------------------------------------------

document=Sources/Languages/c/README.md
examples=0
for name in $(sed -nE 's/^<!-- example: (.*) -->$/\1/p' "$document"); do
    Tests/Checks/block.sh "example: $name" "$document" >"$work/$name"
    examples=$((examples + 1))
done
[ "$examples" -eq 2 ] || fail "$document has $examples examples, and 2 are run here"
cp Tests/Checks/CLibrary/libpushcrypt.py "$work/"

# The commands as they stand, with an empty home and no variables of this shell. `make` only installs what was built.
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$document" >"$work/commands"
{ sed -n '/^make/p' "$work/commands"; echo "cd '$work'"; sed '/^make/d' "$work/commands"; echo 'env -0 >variables'; } >"$work/all"
mkdir "$work/home"
[ "$(env -i HOME="$work/home" PATH="$built:$PATH" LANG=C.UTF-8 SUDO_UID=0 PYTHONDONTWRITEBYTECODE=1 bash -euo pipefail "$work/all" |
    tail -n 1)" = '{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}' ] || fail "the commands of $document"
while IFS= read -r -d '' variable; do
    case $variable in PKG_CONFIG_PATH=* | LD_LIBRARY_PATH=*) export "${variable?}" ;; esac
done <"$work/variables"
[ "$(realpath "$(ldd "$work/seal" | awk '/libpushcrypt/ { print $3 }')")" = "$work/home/.local/lib/libpushcrypt.so.0" ] ||
    fail "another library is used than the installed one"
read -ra link < <(pkg-config --cflags --libs pushcrypt)
clang -std=c99 -Wall -Wextra -Werror "$work/seal.c" "${link[@]}" -o "$work/seal-strict"
clang -std=c99 -O1 -g "${strict[@]}" Tests/Checks/CLibrary/calls.c "${link[@]}" -lpthread -o "$work/calls"

export PYTHONPATH=$work
cd "$work"
said=$(python3 open.py phone.key providers <push.json 2>&1) && fail 'open.py shows a message twice'
[ "$said" = 'open: seen before' ] || fail "open.py says $said"
said=$(printf '{}' | ./seal provider.key "$(cat phone.pub)" 2>&1) && fail 'seal.c seals nothing'
[[ $said = 'seal: missing-aps: '* ]] || fail "seal.c says $said"
echo "library: the commands and $examples examples of $document do what it says"

# --- The calls ------------------------------------------------------------------------------------------------------------------

./calls "$(cat phone.pub)" provider.key phone.key "$(cat provider.pub)"
python3 "$root/Tests/Checks/CLibrary/calls.py" "$root" "$pushcrypt"

cd "$root"
make -s uninstall PREFIX="$work/home/.local"
[ -z "$(find "$work/home" ! -type d)" ] || fail "uninstall leaves $(find "$work/home" ! -type d)"
