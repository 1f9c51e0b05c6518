#!/usr/bin/env bash
# Many threads on one session, built separately: the thread sanitizer detects unlocked accesses.
# Usage: run.sh SESSIONS
set -euo pipefail
cd "$(dirname "$0")/../../.."
swift build --sanitize=thread --scratch-path .build/races --product Races --quiet
.build/races/debug/Races "$1"
