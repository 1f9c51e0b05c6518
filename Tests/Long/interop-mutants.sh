#!/usr/bin/env bash
# Leaves one check after the other out of the receivers of Docs/receivers, and expects the test kit to notice: Tests/Interop/README.md.
# LANGUAGES= limits it.
set -euo pipefail
cd "$(dirname "$0")/../.."
Tests/Scripts/setup.sh interop
exec nice -n 5 Tests/Interop/run.sh mutants
