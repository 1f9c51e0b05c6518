#!/usr/bin/env bash
# A random source that gives the same bytes forever: no key or nonce occurs twice. Tests/Checks/Proofs/README.md
# describes what this shows and what it does not. Arguments name one case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs dead-random "$@"
