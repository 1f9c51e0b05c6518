#!/usr/bin/env bash
# Tests too long for `make test`: each part is a script beside this one, runs alone, and prints one line
#     figure: NAME key=value key=value …
# the last of which are in figures.txt. A part with a figure for the same sources is not run again, so that an interrupted run
# resumes; FRESH=1 runs all parts. Arguments name the parts to run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
state=.build/long
mkdir -p "$state"

# Everything that the figures depend on, and the run's options; documents are excluded.
sources=$({
    git ls-files -z --cached --others --exclude-standard -- Package.swift Sources KeyStore Tests Sources/Languages ':!Tests/Checks/Fuzz/ledger.tsv' |
        LC_ALL=C sort -z | xargs -0 sha256sum 2>/dev/null
    echo "${SEED:-} ${COUNT:-} ${KILLS:-} ${SOAK_SECONDS:-}"
} | sha256sum | cut -c 1-16)

parts=("$@")
if [ ${#parts[@]} -eq 0 ]; then
    for script in Tests/Checks/Long/*.sh; do
        [ "$script" = Tests/Checks/Long/run.sh ] || parts+=("$(basename "$script" .sh)")
    done
fi

failed=()
for part in "${parts[@]}"; do
    script=Tests/Checks/Long/$part.sh
    [ -x "$script" ] || { echo "test-long: error: no part is called $part: see Tests/Checks/Long" >&2; exit 64; }
    figure=$state/$part.figure
    if [ -z "${FRESH:-}" ] && [ -f "$figure" ] && [ "$(sed -n 1p "$figure")" = "sources $sources" ]; then
        echo "$part: done before, on the same sources"
        continue
    fi
    echo "$part: runs, with its log in $state/$part.log"
    start=$SECONDS
    rm -f "$figure"
    if "$script" >"$state/$part.log" 2>&1 && line=$(grep -a "^figure: $part " "$state/$part.log") &&
        [ "$(wc -l <<<"$line")" -eq 1 ]; then
        printf 'sources %s\n%s\n' "$sources" "$line" >"$figure.new"
        mv "$figure.new" "$figure"
        echo "$part: passed after $((SECONDS - start)) seconds"
    else
        failed+=("$part")
        echo "$part: FAILED after $((SECONDS - start)) seconds; its last lines:" >&2
        tail -n 15 "$state/$part.log" >&2
    fi
done

echo
for part in "${parts[@]}"; do
    [ ! -f "$state/$part.figure" ] || sed -n 2p "$state/$part.figure"
done
[ ${#failed[@]} -eq 0 ] || { echo "test-long: failed: ${failed[*]}" >&2; exit 1; }
