#!/usr/bin/env bash
# Runs the tests against libsodium 1.0.22, which has X-Wing: those of suite 2, which `make test` skips on earlier ones, and the
# others. Fetches it from Debian's unstable suite, and builds in .build/pq, beside the other builds.
# Usage: post-quantum.sh [FILTER]      only tests whose names match a regular expression
set -euo pipefail
cd "$(dirname "$0")/../../.."

prefix=$(Tests/Checks/Scripts/sodium.sh)
Sources/Packaging/libsodium.sh "$prefix" shared
export PKG_CONFIG_PATH=$PWD/.build/sodium-link/pkgconfig LD_LIBRARY_PATH=$prefix/lib SWIFT_BACKTRACE=enable=no
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

quiet=--quiet
[ ! -t 2 ] || quiet=
echo "swift build --build-tests, with libsodium 1.0.22"
swift build --build-tests --scratch-path .build/pq $quiet

program=.build/pq/debug/pushcrypt
"$program" --version | grep -q post-quantum || {
    printf 'post-quantum: error: %s lacks suite 2: %s\n' "$program" "$("$program" --version)" >&2
    exit 1
}
export PUSHCRYPT_PROGRAM=$PWD/$program
filter=()
[ $# -eq 0 ] || filter=(--filter "$1")
swift test --skip-build --scratch-path .build/pq --parallel ${filter[@]+"${filter[@]}"} 2>&1 | tee .build/pq-test.log |
    { grep -E '^(✘|↳|error:|warning:|✔ Test run)' || true; }
grep -aE '^SKIPPED' .build/pq-test.log | sort -u || true
! grep -aqE '^(✘|error:)' .build/pq-test.log
