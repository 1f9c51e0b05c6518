#!/usr/bin/env bash
# Runs all tests and prints at the end the counts of what ran, and what was skipped; a count of zero is a failure,
# whatever the tests report. Tests print these counts, each on a separate line:
#     vectors: NAME: COUNT          how many vectors of one file or kind it has just run
#     interleavings: NAME: COUNT    how many orders of events it has gone through
#     kills: NAME: COUNT            how many processes it has killed
#     races: NAME: COUNT            how many sessions several threads have fought over
#     fuzz: NAME: COUNT             how many inputs a fuzz target has tried
#     SKIPPED: …                    what it could not run, and why
# The terminal shows failures and the closing lines; .build/test.log has everything.
set -euo pipefail
cd "$(dirname "$0")/../../.."
log=.build/test.log

# Leftovers of tests are removed with this folder; Foundation keeps a file of each interrupted download.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A crash in a test must end the run, not wait for a debugger.
export SWIFT_BACKTRACE=enable=no

quiet=--quiet
[ ! -t 2 ] || quiet=
echo "swift build --build-tests"
swift build --build-tests $quiet

# Sessions run the program as it is shipped, which takes half the time of the one built for debugging.
export PUSHCRYPT_PROGRAM=$PWD/.build/release/pushcrypt

# A message continues until the next line with a mark; starts and passes are only in the log.
status=0
echo "swift test --parallel"
swift test --skip-build --parallel 2>&1 | tee "$log" | LC_ALL=C awk '
    /^✔ Test run with/ { print; hidden = 1; next }
    /^(◇|✔|➜|(vectors|interleavings|kills|races|fuzz):|SKIPPED|transcript|\[0\/1\] Planning)/ { hidden = 1; next }
    /^(✘|↳|error:|warning:|Test Suite|\/)/ { hidden = 0 }
    !hidden' || status=1

# Two lanes at once, because half of these checks keep one core busy. Each check's output is shown when its lane is done.
lanes=$(mktemp -d)
: >"$lanes/failed"
trap 'rm -rf "$TMPDIR" "$lanes"' EXIT

# Runs a check and notes what it says, how long it took, and the end of what it says if it failed.
check() { # LANE NAME COMMAND…
    local lane=$lanes/$1 name=$2 start=$SECONDS
    shift 2
    echo "$name" >>"$lane"
    "$@" >"$lane.now" 2>&1 || { echo "error: $name"; tail -n 20 "$lane.now" | cut -c 1-600; } >>"$lanes/failed"
    { cat "$lane.now"; echo "seconds: $name: $((SECONDS - start))"; } >>"$lane"
}

races() { swift build --sanitize=thread --scratch-path .build/races --product Races $quiet && .build/races/debug/Races 100000; }

api() {
    Tests/Checks/Scripts/documentation.py check .build/debug/Modules && Tests/Checks/Scripts/api.py check .build/documentation/symbols
}

{
    # Many threads on one session, built separately: the thread sanitizer detects unlocked accesses.
    check 1 "races under the thread sanitizer" races
    # Every fuzz target with its corpus, and some thousand further inputs.
    check 1 "fuzz targets under the address sanitizer" Tests/Checks/Fuzz/run.sh short
} &
first=$!
{
    # The checks that `make test-long` removes one after another are where its tables say.
    check 2 "mutants fit the sources" Tests/Checks/Mutants/mutants.py --check .build/debug/pushcryptPackageTests.xctest
    # Every public symbol has a comment and a topic, and stands in the committed listing.
    check 2 "public API" api
    # Messages to a local APNs that misbehaves.
    check 2 "sending to APNs" Tests/Checks/Apns/send_test.py .build/debug/pushcrypt-send
    # The instruction counts of the release build, against the recorded ceilings.
    check 2 "instructions under callgrind" Tests/Checks/Bench/instructions.py check
    # The examples of the documents, as an outside package.
    check 2 "examples of the documents" Tests/Checks/Scripts/document-examples.sh .build/debug/pushcrypt
    # The scaffold's output, as an app that depends on this package.
    check 2 "scaffold" Tests/Checks/Scripts/scaffold.sh .build/debug/pushcrypt
    # The files that `make install` installs and `make uninstall` removes.
    check 2 "installed files" Tests/Checks/Scripts/install.sh .build/debug/pushcrypt
} &
second=$!
wait "$first" || status=1
wait "$second" || status=1
cat "$lanes"/[12] | tee -a "$log" | { grep -vE '^(vectors|races|instructions|seconds): |^fuzz: [a-z]*: [0-9]' || true; }
[ ! -s "$lanes/failed" ] || status=1

skipped=$(grep -aE '^(SKIPPED|➜ .* skipped)' "$log" | sort | uniq -c | sed -E 's/^ *1 //; s/^ +([0-9]+) (.*)/\2 (\1 times)/') || true
[ -z "$skipped" ] || printf '\n%s\n' "$skipped"

echo
grep -aE '^(vectors|interleavings|kills|races|fuzz):' "$log" | LC_ALL=C sort | awk -F ': *' '
    function complain(what) { print "test: error: " what >"/dev/stderr"; bad = 1 }
    NF < 3 || $NF !~ /^[0-9]+$/ { complain("not `KIND: NAME: COUNT`: " $0); next }
    {
        kind = $1; total[kind] += $NF
        name = $1; for (i = 2; i < NF; i++) name = name ": " $i
        if (!(name in sum)) { order[++names] = name; kindOf[name] = kind }
        sum[name] += $NF
    }
    END {
        split("vectors interleavings kills races fuzz", kinds, " ")
        for (k = 1; k in kinds; k++) {
            kind = kinds[k]
            for (i = 1; i <= names; i++) {
                if (kindOf[order[i]] != kind) continue
                printf "%s: %.0f\n", order[i], sum[order[i]]
                if (sum[order[i]] == 0) complain("none of " order[i] " ran")
            }
            if (kind == "vectors") printf "%s: all: %.0f\n", kind, total[kind]
            if (total[kind] == 0) complain("no " kind " ran")
        }
        exit bad
    }' || status=1

# Last, because readers of a CI log may see only its end.
if [ $status -ne 0 ]; then
    { LC_ALL=C grep -aE '^✘ Test .* recorded an issue|^(error|FAILED):' "$log" || true; } | cut -c 1-400 | head -n 20 >&2
    tee -a "$log" <"$lanes/failed" >&2
    echo "test: failed; the whole log is $log" >&2
fi
exit $status
