#!/usr/bin/env bash
# Leaves one check after the other out of the receivers of Sources/Languages, and expects the test kit to notice: Tests/Checks/Interop/README.md.
# LANGUAGES= limits it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
Tests/Checks/Scripts/setup.sh interop
exec nice -n 5 Tests/Checks/Interop/run.sh mutants
