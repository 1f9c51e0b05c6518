#!/usr/bin/env bash
# Kills ten thousand commands at random moments; KILLS= overrides. Tests/Faults/README.md says what it shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Long/faults
Tests/Faults/kills.py "${KILLS:-10000}"
