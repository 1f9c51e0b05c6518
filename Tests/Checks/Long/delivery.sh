#!/usr/bin/env bash
# A million lines through two sealers and an opener, with rotations, stops at random bytes and clocks that jump; COUNT= and
# SEED= override. Tests/Checks/Faults/README.md describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/delivery.py "${COUNT:-1000000}" ${SEED:+"$SEED"}
