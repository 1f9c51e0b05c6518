#!/usr/bin/env bash
# Fails every call that changes a file of a store, or writes half of it. Tests/Checks/Faults/README.md describes what
# this shows.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Tests/Checks/Long/faults
Tests/Checks/Faults/io_errors.py
