#!/usr/bin/env bash
# Installs the packages with their drivers and runs interop.py, which has the arguments. Called by `make nightly PART=packages`, which builds the
# command and installs what is needed. COUNT=1000 makes it short; SEED=… runs the same messages again.
# Usage: run.sh                  everything, after a look whether the vectors are what their generator writes
#        run.sh kit              the test kit alone, after the same look
#        run.sh ask LANGUAGE     one receiver by hand: questions on standard input, answers on standard output
set -euo pipefail
cd "$(dirname "$0")/../../.."
built=.build/interop/built
mkdir -p "$built"

# Packages are installed into clean roots first.
for language in ${LANGUAGES:-java javascript python go}; do "Tests/Checks/Packages/$language.sh" install; done
case ${1:-} in
"" | kit) .build/interop/bin/python -B Tests/Data/Vectors/generate.py --check >"$built/vectors.txt" ;;
esac
if [ $# -eq 0 ]; then
    .build/interop/bin/python -B Tests/Checks/Interop/keys.py .build/release/pushcrypt
fi
exec .build/interop/bin/python -B Tests/Checks/Interop/interop.py "$@"
