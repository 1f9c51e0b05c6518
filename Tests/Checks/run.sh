#!/usr/bin/env bash
# Runs the parts of `make check` or `make nightly` that parts.txt lists, two at a time, each with its log in .build/checks. What all of
# them need is installed and built first, once. Prints what each part measured (`figure: …`), each `scenario: …`, what could not run
# (`SKIPPED: …`), and at the end the last lines of each that failed.
# Usage: run.sh check|nightly [PART]...
# `nightly` does not repeat a part that passed on the same sources, so that an interrupted run goes on; FRESH=1 repeats all. COUNT= and
# SEED= reach the parts.
set -euo pipefail
cd "$(dirname "$0")/../.."
when=${1:-}
[ "$when" = check ] || [ "$when" = nightly ] || { sed -n '5,7s/^# //p' "$0" >&2; exit 64; }
shift
table=$(grep -E "^$when " Tests/Checks/parts.txt)
all=$(cut -d ' ' -f 2 <<<"$table")
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all
for part; do
    grep -qxF -- "$part" <<<"$all" ||
        { echo "$when: error: no part is called $part; there are $(xargs <<<"$all")" >&2; exit 64; }
done
export SWIFT_BACKTRACE=enable=no PYTHONDONTWRITEBYTECODE=1
logs=.build/checks
mkdir -p "$logs"
column() { awk -v part="$1" -v from="$2" '$2 == part { $1 = $2 = ""; if (from == 4) $3 = ""; else $0 = $3; sub(/^ +/, ""); print }' <<<"$table"; }

# Everything that a result depends on.
sources=$({
    git ls-files -z --cached --others --exclude-standard -- Package.swift Makefile README.md Docs Sources KeyStore Tests ':!Tests/Checks/Fuzz/ledger.tsv' |
        LC_ALL=C sort -z | xargs -0 sha256sum 2>/dev/null
    env | grep -E '^(COUNT|SEED|SECONDS|LANGUAGES)=' || true
} | sha256sum)
is_done() { [ "$when" = nightly ] && [ -z "${FRESH:-}" ] && [ "$(cat "$logs/$when-$1.passed" 2>/dev/null)" = "$sources" ]; }

parts=()
for part; do
    if is_done "$part"; then echo "$part: passed before, on the same sources"; else parts+=("$part"); fi
done
for need in $(for part in "${parts[@]}"; do column "$part" 3; done | tr ',' '\n' | awk '!seen[$0]++'); do
    case $need in
    -) ;;
    build | tests) make --no-print-directory "$need" ;;
    library) make --no-print-directory build LIBRARY=1 ;;
    *) Tests/Checks/setup.sh "$need" ;;
    esac
done

# One part; the last line of its result file is how long it took.
run_part() {
    local log=$logs/$when-$1.log start=$SECONDS outcome=passed
    bash -c "$(column "$1" 4)" >"$log" 2>&1 </dev/null || outcome=FAILED
    [ $outcome = FAILED ] || echo "$sources" >"$logs/$when-$1.passed"
    { LC_ALL=C grep -aE '^(figure|SKIPPED|scenario):' "$log" | sort -u || true; } >"$log.notes"
    { cat "$log.notes"; echo "$1: $outcome after $((SECONDS - start)) seconds"; }
    [ $outcome = passed ] || touch "$logs/failed-$1"
    rm -f "$log.notes"
}

rm -f "$logs"/failed-*
running=0
for part in "${parts[@]}"; do
    [ $running -lt 2 ] || { wait -n; running=$((running - 1)); }
    run_part "$part" &
    running=$((running + 1))
done
wait
failed=0
for part in "${parts[@]}"; do
    [ -e "$logs/failed-$part" ] || continue
    failed=$((failed + 1))
    printf '\n%s: FAILED; the end of %s:\n' "$part" "$logs/$when-$part.log" >&2
    tail -n 20 "$logs/$when-$part.log" | cut -c 1-600 >&2
done
echo
echo "$when: $(($# - failed)) passed, $failed failed"
[ $failed -eq 0 ]
