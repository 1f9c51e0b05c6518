#!/usr/bin/env bash
# The faults that persist, in virtual time, each by name; then `send` against the mock. Called by `make check PART=send`, which builds
# both. In real time the same scenarios are in scenarios.py.
set -euo pipefail
cd "$(dirname "$0")/../../.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift test --skip-build --filter SendTests.ScenarioTests >"$log" 2>&1 || status=1
grep -a '^scenario: ' "$log" || { cat "$log"; status=1; }
[ $status -eq 0 ] || grep -aE '^(✘|↳)' "$log" | cut -c 1-600 || true
Tests/Checks/Send/send_test.py .build/debug/pushcrypt-send || status=1
exit $status
