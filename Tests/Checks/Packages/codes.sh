#!/usr/bin/env bash
# Every code of a package is explained in Docs/Codes.md.
# Usage: codes.sh FILE…        files with the codes as strings
set -euo pipefail
cd "$(dirname "$0")/../../.."
unknown=$(grep -hoE '"[a-z]+(-[a-z]+)+":|(= |entry\()"[a-z]+(-[a-z]+)*"' "$@" | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u | while read -r code; do
    grep -q "^\*\*\`$code\`\*\*" Docs/Codes.md || echo "$code"
done)
[ -z "$unknown" ] || { printf 'packages: error: not in Docs/Codes.md: %s\n' "$unknown" >&2 && exit 1; }
