#!/usr/bin/env bash
# A million messages in one to three copies, to several threads and processes on one replay guard: each is new once.
# Tests/Checks/Proofs/README.md describes what this shows and what it does not. Arguments name one case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs replay "$@"
