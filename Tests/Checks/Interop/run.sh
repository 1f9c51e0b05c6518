#!/usr/bin/env bash
# What crosses languages: interop.py has the arguments. Tests/Checks/Packages/run.sh calls it, after it has installed the packages with their
# drivers. COUNT=1000 makes it short; SEED=… runs the same messages again.
# Usage: run.sh                  everything
#        run.sh ask LANGUAGE     one package by hand: questions on standard input, answers on standard output
set -euo pipefail
cd "$(dirname "$0")/../../.."
mkdir -p .build/interop/built
[ $# -gt 0 ] || .build/interop/bin/python -B Tests/Checks/Interop/keys.py .build/release/pushcrypt
exec .build/interop/bin/python -B Tests/Checks/Interop/interop.py "$@"
