#!/usr/bin/env bash
# Runs all tests and says at the end how many vectors ran and what was skipped; no vectors is a failure, whatever the tests say.
# What a test prints for this, on a line of its own:
#     vectors: NAME: COUNT          how many vectors of one file or kind it has just run
#     SKIPPED: …                    what it could not run, and why
# A screen shows what failed and the closing lines; .build/test.log has everything.
set -euo pipefail
cd "$(dirname "$0")/../.."
log=.build/test.log

# A crash in a test must end the run, not wait for a debugger.
export SWIFT_BACKTRACE=enable=no

quiet=--quiet
[ ! -t 2 ] || quiet=
echo "swift build --build-tests"
swift build --build-tests $quiet

echo "swift test --parallel"
status=0
# A message goes on until the next line with a mark; what started and what passed is only in the log.
swift test --skip-build --parallel 2>&1 | tee "$log" | LC_ALL=C awk '
    /^✔ Test run with/ { print; hidden = 1; next }
    /^(◇|✔|➜|vectors:|SKIPPED|transcript|\[0\/1\] Planning)/ { hidden = 1; next }
    /^(✘|↳|error:|warning:|Test Suite|\/)/ { hidden = 0 }
    !hidden' || status=1

# The README's examples, as somebody else's package.
Tests/Scripts/readme-examples.sh .build/debug/pushcrypt || status=1

# What the scaffold writes, as an app that depends on this package.
Tests/Scripts/scaffold.sh .build/debug/pushcrypt || status=1

skipped=$(grep -aE '^(SKIPPED|➜ .* skipped)' "$log" | sort | uniq -c | sed -E 's/^ *1 //; s/^ +([0-9]+) (.*)/\2 (\1 times)/') || true
[ -z "$skipped" ] || printf '\n%s\n' "$skipped"

echo
grep -a '^vectors:' "$log" | LC_ALL=C sort | awk -F ': *' '
    function complain(what) { print "test: error: " what >"/dev/stderr"; bad = 1 }
    NF < 3 || $NF !~ /^[0-9]+$/ { complain("not `vectors: NAME: COUNT`: " $0); next }
    { name = $2; for (i = 3; i < NF; i++) name = name ": " $i; if (!(name in sum)) order[++kinds] = name; sum[name] += $NF }
    END {
        for (i = 1; i <= kinds; i++) {
            total += sum[order[i]]
            printf "vectors: %s: %d\n", order[i], sum[order[i]]
            if (sum[order[i]] == 0) complain("no vector of " order[i] " ran")
        }
        printf "vectors: all: %d\n", total
        if (total == 0) complain("no vectors ran")
        exit bad
    }' || status=1

[ $status -eq 0 ] || echo "test: failed; the whole log is $log" >&2
exit $status
