#!/usr/bin/env bash
# Plants what the parts on faults look for, and sees that their checks find it. Tests/Checks/Faults/README.md describes
# what this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/planted.py
