#!/usr/bin/env bash
# Which lines of the libraries the tests run: coverage.py judges it, and coverage-exceptions.txt names what they do not run.
set -euo pipefail
cd "$(dirname "$0")/../.."
state=.build/long/coverage
mkdir -p "$state"
export SWIFT_BACKTRACE=enable=no
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
tools=$(dirname "$(readlink -f "$(command -v swift)")")
scratch=$state/build
products=$scratch/debug

nice -n 5 swift build --build-tests --enable-code-coverage --scratch-path "$scratch" --quiet
# Each run clears what the one before has counted.
. Tests/Scripts/waiting.sh
rm -rf "$state"/profiles && mkdir -p "$state"/profiles
run() {
    nice -n 5 swift test --skip-build --parallel --enable-code-coverage --scratch-path "$scratch" "${@:2}" >"$state/$1.log" 2>&1 || {
        LC_ALL=C grep -aE '^✘ Test .* recorded an issue|^error:' "$state/$1.log" | head -n 20 >&2
        echo "coverage: error: the tests do not pass; the log is $state/$1.log" >&2
        exit 1
    }
    cp "$products/codecov/default.profdata" "$state/profiles/$1.profdata"
}
run most --skip "$waiting"
run waiting --filter "$waiting"
"$tools/llvm-profdata" merge -sparse "$state"/profiles/*.profdata -o "$state/all.profdata"
"$tools/llvm-cov" export -format=lcov -instr-profile "$state/all.profdata" "$products/pushcryptPackageTests.xctest" \
    "$PWD"/Sources/Pushcrypt "$PWD"/Sources/PushcryptReceiver "$PWD"/KeyStore >"$state/lines.info"
Tests/Long/coverage.py "$state/lines.info"
