#!/usr/bin/env bash
# Measures other tools beside this project, on this machine: `make nightly PART=peers`. setup.sh installs them.
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, as run.sh makes one.
cp .build/release/pushcrypt .build/release/pushcrypt-send "$work/"
# Each package as it is installed, and the program that measures it.
root=.build/languages bench=Tests/Checks/Bench/Languages
for language in python javascript go java; do "Tests/Checks/Packages/$language.sh" install; done
Tests/Checks/Packages/go.sh bench
javac -cp "$root/java/pushcrypt.jar" -d "$root/java/bench" "$bench/Bench.java"
.build/peers/bin/python Tests/Checks/Bench/peers.py "$work/pushcrypt" "$work"
echo
Tests/Checks/Bench/send.py "$work/pushcrypt"
