#!/usr/bin/env bash
# Has Chromium lay out what `pushcrypt preview` draws, light and dark, and checks boxes, lines and colours; pictures of it are left in
# .build/preview for people to look at. Called by `make test-browser`, which builds the command and installs the browser and its fonts.
# Usage: preview-browser.sh [PATH-OF-PUSHCRYPT]
set -euo pipefail
cd "$(dirname "$0")/../../.."
command=$(realpath "${1:-.build/release/pushcrypt}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p .build/preview
PYTHONDONTWRITEBYTECODE=1 python3 Tests/Checks/Browser/preview.py "$work" "$command" "$PWD/.build/preview"
