#!/usr/bin/env bash
# Prints the code block below a mark of a document, such as `<!-- example: first.py -->`. Fails if there is none.
# Usage: block.sh MARK DOCUMENT      MARK without its brackets: 'example: first.py'
awk -v mark="<!-- $1 -->" '
    $0 == mark { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside
    END { exit !inside }' "$2"
