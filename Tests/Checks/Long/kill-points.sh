#!/usr/bin/env bash
# Kills each command that changes a store at every system call. Tests/Checks/Faults/README.md describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/kill_points.py
