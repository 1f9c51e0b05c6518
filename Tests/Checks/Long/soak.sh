#!/usr/bin/env bash
# Eight workers, each a process at a time, rotate, seal, open and purge on one provider's store and one phone's for ten
# minutes; SOAK_SECONDS= overrides. Tests/Checks/Faults/README.md describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/soak.py "${SOAK_SECONDS:-600}"
