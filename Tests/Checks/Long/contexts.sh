#!/usr/bin/env bash
# Only the mixture of two topics, devices, senders, types and suites in which all agree opens; weak points are refused
# in every position. Tests/Checks/Proofs/README.md describes what this shows and what it does not. Arguments name one
# case to run again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
swift build -c release --product Proofs --quiet
exec .build/release/Proofs contexts "$@"
