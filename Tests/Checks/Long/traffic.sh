#!/usr/bin/env bash
# A million messages and a thousand rotations, delivered up to the last millisecond of the grace: none is lost, and
# nothing opens after. Tests/Checks/Proofs/README.md describes what this shows and what it does not. Arguments name one
# case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs traffic "$@"
