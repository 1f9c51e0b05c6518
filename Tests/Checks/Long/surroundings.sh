#!/usr/bin/env bash
# Each command where something is missing: reads, /proc, /dev, memory, descriptors, room; two at once; a stop at each byte of
# the input; backups while in use. Tests/Checks/Faults/README.md describes what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/surroundings.py
