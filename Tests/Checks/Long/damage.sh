#!/usr/bin/env bash
# Ten thousand damaged guards and stores; COUNT= and SEED= override. Tests/Checks/Faults/README.md describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/damage.py "${COUNT:-10000}" ${SEED:+"$SEED"}
