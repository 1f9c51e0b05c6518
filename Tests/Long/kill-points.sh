#!/usr/bin/env bash
# Kills each command that changes a store at every system call. Tests/Faults/README.md says what it shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
Tests/Scripts/setup.sh faults
make --no-print-directory build
Tests/Faults/kill_points.py
