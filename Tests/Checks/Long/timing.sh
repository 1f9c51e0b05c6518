#!/usr/bin/env bash
# The time of a refusal does not depend on the position of the fault in tag, signature or padding.
# Tests/Checks/Proofs/README.md describes what this shows and what it does not. Arguments name one case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs timing "$@"
