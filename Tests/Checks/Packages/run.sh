#!/usr/bin/env bash
# Builds the packages of Sources/Languages, installs each into a clean root without a network, and tests it there; then what crosses languages,
# Tests/Checks/Interop. Two jobs at a time, each with its log in .build/languages. `make check PART=packages` builds the command and
# installs what is needed. LANGUAGES limits the packages; COUNT and SEED are those of Tests/Checks/Interop.
#
# LANGUAGE.sh install   builds the artefact, and installs it and the driver of Interop into .build/languages/LANGUAGE
# LANGUAGE.sh check     its own tests, types, README, version, and what else only this language has
set -euo pipefail
cd "$(dirname "$0")/../../.."
# The slowest first.
LANGUAGES=${LANGUAGES:-java python javascript go}
export LANGUAGES
logs=.build/languages
mkdir -p "$logs"
rm -f "$logs"/failed-*

package() { "Tests/Checks/Packages/$1.sh" install && "Tests/Checks/Packages/$1.sh" check; }

# Whether an independent program still makes the vectors that all read.
vectors() { .build/interop/bin/python -B Tests/Data/Vectors/generate.py --check; }

job() {
    local start=$SECONDS
    if "$@" >"$logs/${*: -1}.log" 2>&1 </dev/null; then
        { grep -aE '^(figure|packages|SKIPPED): ' "$logs/${*: -1}.log" || true; }
        echo "packages: ${*: -1}: passed after $((SECONDS - start)) seconds"
    else
        touch "$logs/failed-${*: -1}"
    fi
}

Sources/Languages/generate.py --check
running=0
# shellcheck disable=SC2086
for name in ${LANGUAGES} vectors; do
    [ $running -lt 2 ] || { wait -n; running=$((running - 1)); }
    if [ "$name" = vectors ]; then job vectors & else job package "$name" & fi
    running=$((running + 1))
done
wait
for failed in "$logs"/failed-*; do
    [ -e "$failed" ] || continue
    printf '\npackages: error: %s; the end of %s.log:\n' "${failed##*-}" "$logs/${failed##*-}" >&2
    tail -n 40 "$logs/${failed##*-}.log" >&2
done
if compgen -G "$logs/failed-*" >/dev/null; then exit 1; fi
exec .build/interop/bin/python -B Tests/Checks/Interop/interop.py
