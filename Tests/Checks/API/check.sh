#!/usr/bin/env bash
# Every public symbol has a comment and a topic, and stands in the listing that `make record` writes; the stand-ins declare what Apple
# declares. Called after a build of the tests.
set -euo pipefail
cd "$(dirname "$0")/../../.."
Tests/Checks/API/documentation.py check .build/debug/Modules
Tests/Checks/API/api.py check .build/documentation/symbols
Tests/Checks/API/apple.py .build/debug/Modules
