#!/usr/bin/env bash
# Follows README.md as a new user, and does nothing else: in a fresh copy called `pushcrypt`, with an empty home and an
# environment without anything from this checkout, it runs every ```sh block unchanged. Of the tests it runs a few: `make test` runs
# all of them, and the ```console sessions.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home" "$place/pushcrypt"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$place/pushcrypt"

# The files that the document shows, at the places it names.
mkdir -p "$place/provider/Sources/provider"
Tests/Checks/block.sh 'file: Package.swift' README.md >"$place/provider/Package.swift"
Tests/Checks/block.sh 'example: provider' README.md >"$place/provider/Sources/provider/main.swift"

# Each block starts in the copy, with the variables that earlier blocks exported. Each line is shown before it is run.
awk -v quote="'" '
    /^```sh$/ { inside = 1; print "cd \"$PLACE/pushcrypt\""; next }
    /^```$/ { inside = 0 }
    inside { print "cat <<" quote "LINE" quote "\n$ " $0 "\nLINE\n" $0 }' README.md >"$place/blocks.sh"
[ -s "$place/blocks.sh" ] || { echo "first-minutes: error: README.md has no commands" >&2; exit 1; }
env -i HOME="$place/home" PLACE="$place" LANG="${LANG:-C.UTF-8}" TERM=dumb TMPDIR="${TMPDIR:-/tmp}" FILTER='KitEnvelopeTests|ProgramTests' \
    PATH="$(tr : '\n' <<<"$PATH" | grep -v "^$root" | paste -sd :)" SWIFT_BACKTRACE=enable=no bash -e "$place/blocks.sh" 2>&1 | tee "$place/log"
for line in '│ Table for two' 'Test run with' '6. From now on another key signs'; do
    grep -qF "$line" "$place/log" || { echo "first-minutes: error: nothing printed '$line'" >&2; exit 1; }
done
echo "figure: first-minutes seconds=$SECONDS"
