#!/usr/bin/env bash
# Measures what others cost beside this project, on this machine: `make bench-peers`. They come from PyPI and Debian, into .build.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=.build/peers
wanted='http-ece==1.2.1 PyNaCl==1.6.2 cryptography==43.0.3'
if [ ! -f $venv/wanted ] || [ "$(<$venv/wanted)" != "$wanted" ]; then
    rm -rf $venv
    python3 -m venv $venv
    # shellcheck disable=SC2086 # three arguments
    $venv/bin/pip --quiet --disable-pip-version-check install $wanted
    printf '%s\n' "$wanted" >$venv/wanted
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, as run.sh makes one.
cp .build/release/pushcrypt "$work/pushcrypt"
$venv/bin/python Tests/Bench/peers.py "$work/pushcrypt" "$work"
