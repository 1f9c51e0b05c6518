#!/usr/bin/env bash
# Kills each command that changes a store at every system call. Tests/Faults/README.md says what it shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Long/faults
Tests/Faults/kill_points.py
