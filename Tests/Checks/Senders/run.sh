#!/usr/bin/env bash
# Sends sealed payloads through real APNs clients to a local APNs, and opens the bytes that arrived. Called by
# `make nightly PART=senders`, which builds the command and installs the clients.
set -euo pipefail
cd "$(dirname "$0")/../../.."
tests=$PWD/Tests/Checks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tests/Pipelines:$tests/Send .build/senders/bin/python "$tests/Senders/senders_test.py" "$work" \
    "$PWD/.build/release/pushcrypt"
