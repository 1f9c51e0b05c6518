#!/usr/bin/env bash
# Measures which lines of the libraries the tests run: coverage.py checks it, and coverage-exceptions.txt lists the
# exceptions.
set -euo pipefail
cd "$(dirname "$0")/../../.."
state=.build/long/coverage
mkdir -p "$state"
export SWIFT_BACKTRACE=enable=no
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
tools=$(dirname "$(readlink -f "$(command -v swift)")")
scratch=$state/build
products=$scratch/debug

# Some counts are differences of others, so a count lost between two threads makes a line look as if it had not run.
nice -n 5 swift build --build-tests --enable-code-coverage --scratch-path "$scratch" --quiet \
    -Xswiftc -Xllvm -Xswiftc -instrprof-atomic-counter-update-all
# A process that a test kills leaves a truncated file of counts, which breaks the toolchain's own merging, so its failure
# says nothing about the tests; their own results do. The documents' examples wait for real seconds, and starve here.
log=$state/tests.log
nice -n 5 swift test --skip-build --parallel --skip '^(ExampleTests|CatalogueTests)\.' \
    --enable-code-coverage --scratch-path "$scratch" >"$log" 2>&1 || true
if ! LC_ALL=C grep -aqE '^✔ Test run with [1-9]' "$log" || LC_ALL=C grep -aq '^✘ ' "$log"; then
    LC_ALL=C grep -aE '^✘ Test .* recorded an issue|^error:' "$log" | cut -c 1-400 | head -n 20 >&2 || true
    echo "coverage: error: the tests do not pass; the log is $log" >&2
    exit 1
fi
"$tools/llvm-profdata" merge -sparse --failure-mode=all "$products"/codecov/*.profraw -o "$state/all.profdata"
"$tools/llvm-cov" export -format=lcov -instr-profile "$state/all.profdata" "$products/pushcryptPackageTests.xctest" \
    "$PWD"/Sources/Pushcrypt "$PWD"/Sources/PushcryptReceiver "$PWD"/KeyStore >"$state/lines.info"
Tests/Checks/Coverage/coverage.py "$state/lines.info"
