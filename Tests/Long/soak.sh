#!/usr/bin/env bash
# Eight processes rotate, seal, open and purge on one provider's store and one phone's for ten minutes; SECONDS= overrides.
# Tests/Faults/README.md says what it shows.
set -euo pipefail
# The shell counts on from what it was given.
duration=$SECONDS
[ "$duration" -gt 0 ] || duration=600
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
Tests/Scripts/setup.sh faults
make --no-print-directory build
Tests/Faults/soak.py "$duration"
