#!/usr/bin/env bash
# Kills ten thousand commands at random moments; KILLS= overrides. Tests/Checks/Faults/README.md describes what this
# shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/kills.py "${KILLS:-10000}"
