#!/usr/bin/env bash
# Measures other tools beside this project, on this machine: `make bench-peers`. setup.sh installs them.
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, as run.sh makes one.
cp .build/release/pushcrypt .build/release/pushcrypt-send "$work/"
.build/peers/bin/python Tests/Checks/Bench/peers.py "$work/pushcrypt" "$work"
echo
Tests/Checks/Bench/send.py "$work/pushcrypt"
