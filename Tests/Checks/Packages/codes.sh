#!/usr/bin/env bash
# `pushcrypt explain` knows every code of a package.
# Usage: codes.sh FILE…        files with the codes as strings
set -euo pipefail
cd "$(dirname "$0")/../../.."
known=$(.build/release/pushcrypt explain --json | grep -o '"code":"[a-z-]*"' | cut -d '"' -f 4)
unknown=$(grep -hoE '"[a-z]+(-[a-z]+)+":|(= |entry\()"[a-z]+(-[a-z]+)*"' "$@" | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u | while read -r code; do
    grep -qx "$code" <<<"$known" || echo "$code"
done)
[ -z "$unknown" ] || { printf 'packages: error: not explained: %s\n' "$unknown" >&2 && exit 1; }
