#!/usr/bin/env bash
# Prints an example of Sources/Languages/c/README.md.
# Usage: example.sh NAME
awk -v name="$1" '
    $0 == "<!-- example: " name " -->" { found = 1; next }
    found && /^```[a-z]+$/ { inside = 1; next }
    inside && /^```$/ { exit }
    inside { print }' "$(dirname "$0")/../../../Sources/Languages/c/README.md"
