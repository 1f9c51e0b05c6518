#!/usr/bin/env bash
# Every small change of an envelope of each bucket is refused, with the code that the document demands there.
# Tests/Checks/Proofs/README.md describes what this shows and what it does not. Arguments name one case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs exhaustive "$@"
