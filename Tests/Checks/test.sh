#!/usr/bin/env bash
# Builds the tests and runs them, and prints at the end the counts of what ran, and what was skipped; a count of zero is a failure,
# whatever the tests report. Tests print these counts, each on a separate line:
#     vectors: NAME: COUNT          how many vectors of one file or kind it has just run
#     interleavings: NAME: COUNT    how many orders of events it has gone through
#     kills: NAME: COUNT            how many processes it has killed
#     fuzz: NAME: COUNT             how many inputs a fuzz target has tried
#     SKIPPED: …                    what it could not run, and why
# The terminal shows failures and the closing lines; .build/test.log has everything.
# Usage: test.sh [FILTER]           FILTER: only tests whose names match this regular expression, without counts
set -euo pipefail
cd "$(dirname "$0")/../.."
log=.build/test.log

# Leftovers of tests are removed with this folder; Foundation keeps a file of each interrupted download.
TMPDIR=$(mktemp -d)
# Transcripts run commands as other users, below it.
chmod 0711 "$TMPDIR"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A crash in a test must end the run, not wait for a debugger.
export SWIFT_BACKTRACE=enable=no
# A simulated world is the same in each run.
export SWIFT_DETERMINISTIC_HASHING=1

quiet=--quiet
[ ! -t 2 ] || quiet=
# The programs, which transcripts run, and the tests: not what other checks build.
for product in pushcrypt pushcrypt-send pushcryptPackageTests; do
    echo "swift build --product $product"
    swift build --product $product $quiet
done

# Runs some of the tests in a process with its own log. A message continues until the next line with a mark; starts and passes are only
# in the log.
run() {
    local name=$1
    shift
    echo "tests, $name: $*"
    # A shell has a process in the background ignore SIGINT, which tests send to programs. A pipe gets colour, too.
    env --default-signal=INT NO_COLOR=1 .build/debug/pushcryptPackageTests.xctest --testing-library swift-testing "$@" 2>&1 |
        tee ".build/test-$name.log" | LC_ALL=C awk '
        /^✔ Test run with [1-9]/ { passed = 1 }
        /^✔ Test run with/ { print; hidden = 1; next }
        /^(◇|✔|➜|(vectors|interleavings|kills|fuzz|scenario):|SKIPPED|transcript)/ { hidden = 1; next }
        /^(✘|↳|error:|warning:|Test Suite|\/)/ { hidden = 0 }
        !hidden
        END { exit !passed }'
}

# Tests that run at once wait for each other in the kernel, for the guarded pages of their secrets: two processes that each run one test
# after another need half the time of one that runs all of them.
status=0
rm -f "$log" .build/test-*.log
if [ -n "${1:-}" ]; then
    run filtered --no-parallel --filter "$1" || status=1
else
    # Half of the work: the transcripts start the program 2,000 times.
    first='^CommandTests\.'
    # The examples are an app's and a server's code, which waits for seconds of real time: not beside tests that keep every thread busy.
    examples='^(ExampleTests|CatalogueTests)\.'
    run first --no-parallel --filter "$first" &
    run second --no-parallel --skip "$first" --skip "$examples" || status=1
    wait $! || status=1
    run examples --parallel --filter "$examples" || status=1
fi
cat .build/test-*.log >"$log"

skipped=$(grep -aE '^(SKIPPED|➜ .* skipped)' "$log" | sort | uniq -c | sed -E 's/^ *1 //; s/^ +([0-9]+) (.*)/\2 (\1 times)/') || true
[ -z "$skipped" ] || printf '\n%s\n' "$skipped"

# A few tests need not run any.
[ -z "${1:-}" ] || exit $status

counts=$(grep -aE '^(vectors|interleavings|kills|fuzz): ' "$log" | LC_ALL=C sort -u) || true
printf '\n%s\n' "$counts"
for kind in vectors interleavings kills fuzz; do
    grep -q "^$kind: " <<<"$counts" || { echo "test: error: no $kind ran" >&2; status=1; }
done
! grep -vE ': [1-9][0-9]*$' <<<"$counts" >&2 || { echo 'test: error: none of these ran' >&2; status=1; }

# Last, because readers of a CI log may see only its end.
if [ $status -ne 0 ]; then
    { LC_ALL=C grep -aE '^✘ Test .* recorded an issue|^(error|FAILED):' "$log" || true; } | cut -c 1-400 | head -n 20 >&2
    echo "test: failed; the whole log is $log" >&2
fi
exit $status
