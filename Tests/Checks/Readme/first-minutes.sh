#!/usr/bin/env bash
# Follows README.md as a new user, and does nothing else: in a fresh copy called `pushcrypt`, with an empty home and an
# environment without anything from this checkout. Every ```sh block is run unchanged, every ```console block is typed
# line by line and compared; `…` there is any text. README runs `make test` before `make install`; afterwards the other way round.
# Of the tests a few: `.ci/run` runs all of them.
# Usage: first-minutes.sh [FOLDER]      FOLDER is kept; otherwise a new one is made, and removed
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD

if [ $# -gt 0 ]; then
    place=$(mkdir -p "$1" && cd "$1" && pwd)
else
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
fi
[ -z "$(ls -A "$place")" ] || { echo "first-minutes: error: $place is not empty" >&2; exit 64; }

mkdir "$place/home" "$place/pushcrypt" "$place/session"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$place/pushcrypt"

# The files that the document shows, at the places it names.
block() {
    awk -v mark="$1" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside { print }' README.md
}
mkdir -p "$place/provider/Sources/provider"
block '<!-- file: Package.swift -->' >"$place/provider/Package.swift"
block '<!-- example: provider -->' >"$place/provider/Sources/provider/main.swift"
[ -s "$place/provider/Package.swift" ] && [ -s "$place/provider/Sources/provider/main.swift" ]

# Each block starts in the copy, with the variables that earlier blocks exported. Each line is shown before it is run.
awk -v quote="'" '
    /^```sh$/ { inside = 1; print "cd \"$PLACE/pushcrypt\""; next }
    /^```$/ { inside = 0 }
    inside { print "cat <<" quote "LINE" quote "\n$ " $0 "\nLINE\n" $0 }' README.md >"$place/blocks.sh"
[ -s "$place/blocks.sh" ] || { echo "first-minutes: error: README.md has no commands" >&2; exit 1; }

fresh() {
    env -i HOME="$place/home" PLACE="$place" LANG="${LANG:-C.UTF-8}" TERM=dumb TMPDIR="${TMPDIR:-/tmp}" \
        FILTER='KitEnvelopeTests|ProgramTests' \
        PATH="$(tr : '\n' <<<"$PATH" | grep -v "^$root" | paste -sd :)" SWIFT_BACKTRACE=enable=no "$@"
}
start=$SECONDS
fresh bash -e "$place/blocks.sh" 2>&1 | tee "$place/log"
for line in '│ Table for two' 'Test run with' '6. From now on another key signs'; do
    grep -qF "$line" "$place/log" || { echo "first-minutes: error: nothing printed '$line'" >&2; exit 1; }
done

# The sessions, with the installed command.
cp README.md "$place/session.md"
cd "$place/session"
fresh python3 - "$place/session.md" "$place/home/.local/bin" <<'PYTHON'
import os, re, subprocess, sys
text = open(sys.argv[1], encoding="utf-8").read()
os.environ["PATH"] = sys.argv[2] + ":" + os.environ["PATH"]
steps = []
for block in re.findall(r"^```console\n(.*?)^```$", text, re.S | re.M):
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
assert steps, "README.md has no sessions"
for command, said in steps:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    expected = "".join(line + "\n" for line in said)
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    if not re.fullmatch(pattern, done.stdout, re.S):
        sys.exit(f"first-minutes: error: `{command}` printed\n{done.stdout}{done.stderr}README.md says\n{expected}")
print(f"first-minutes: {len(steps)} commands of sessions print what README.md says")
PYTHON
cd "$place/pushcrypt"
order() {
    local target
    for target; do
        fresh make "$target" PREFIX="$place/home/.local" >"$place/order" 2>&1 ||
            { tail -n 30 "$place/order" >&2; echo "first-minutes: error: make $target, in the order $*" >&2; exit 1; }
    done
    fresh "$place/home/.local/bin/pushcrypt" demo >"$place/order" 2>&1 || { tail -n 30 "$place/order" >&2; exit 1; }
}
order test
echo "figure: first-minutes seconds=$((SECONDS - start))"
