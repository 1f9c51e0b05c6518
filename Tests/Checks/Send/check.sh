#!/usr/bin/env bash
# The faults that persist and how much gets through, in virtual time, each by name; then `send` against the mock. Called
# by `make check PART=send`, which builds both.
# Usage: check.sh [SEEDS]     with SEEDS only the scenarios, each with so many seeds
set -euo pipefail
cd "$(dirname "$0")/../../.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
PUSHCRYPT_SEEDS=${1:-2} swift test --skip-build --filter 'SendTests.*(Scenario|Goodput)Tests' >"$log" 2>&1 || status=1
grep -a '^scenario: ' "$log" || { cat "$log"; status=1; }
[ $status -eq 0 ] || grep -aE '^(✘|↳)' "$log" | cut -c 1-600 || true
[ $# -gt 0 ] || Tests/Checks/Send/send_test.py .build/debug/pushcrypt || status=1
exit $status
