#!/usr/bin/env bash
# Removes each security check of the product in turn, and shows that a test notices: Tests/Checks/Mutants/README.md. Goes on where it stopped.
set -euo pipefail
exec nice -n 5 Tests/Checks/Mutants/mutants.py "$@"
