#!/usr/bin/env bash
# A random source that gives the same bytes for ever: no key and no nonce comes twice.
# Tests/Checks/Proofs/README.md says what that shows and what not. Arguments name one case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs dead-random "$@"
