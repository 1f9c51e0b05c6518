#!/usr/bin/env bash
# Lays out drawings of `pushcrypt preview` in Chromium, light and dark, and checks boxes, lines and colours. Leaves
# pictures in .build/preview for inspection. Called by `make nightly PART=browser`, which builds the command and installs the
# browser and its fonts.
# Usage: preview-browser.sh [PATH-OF-PUSHCRYPT]
set -euo pipefail
cd "$(dirname "$0")/../../.."
command=$(realpath "${1:-.build/release/pushcrypt}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p .build/preview
PYTHONDONTWRITEBYTECODE=1 python3 Tests/Checks/Browser/preview.py "$work" "$command" "$PWD/.build/preview"
