#!/usr/bin/env bash
# Takes away the power after every call that changes a file, in a model of a disk. Tests/Faults/README.md says what it shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Long/faults
Tests/Faults/power_loss.py
