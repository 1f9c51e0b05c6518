#!/usr/bin/env bash
# Takes away the power after every call that changes a file, in a model of a disk. Tests/Checks/Faults/README.md
# describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/power_loss.py
