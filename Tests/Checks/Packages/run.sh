#!/usr/bin/env bash
# Builds the packages of Sources/Languages, installs each into a clean root without a network, and tests it there: what its script here
# checks (types, the README, its version, the client of the filter), then what Tests/Checks/Interop asks of it. Called by `make
# nightly PART=packages`. COUNT and SEED are those of Tests/Checks/Interop; LANGUAGES limits it.
#
# LANGUAGE.sh install   builds the artefact, and installs it and the driver into .build/languages/LANGUAGE
# LANGUAGE.sh check     tests what only this language has
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ -n "${LANGUAGES:-}" ] || LANGUAGES=$(cd Sources/Languages && for name in */; do [ ! -f "../../Tests/Checks/Packages/${name%/}.sh" ] || echo "${name%/}"; done | xargs)
export LANGUAGES
for language in $LANGUAGES; do
    "Tests/Checks/Packages/$language.sh" install
    "Tests/Checks/Packages/$language.sh" check
done
exec Tests/Checks/Interop/run.sh
