#!/usr/bin/env bash
# Runs the tests against libsodium 1.0.22, which has X-Wing: those of suite 2, which `make test` skips on earlier ones, and the
# others; then the fuzz targets that take keys or envelopes of suite 2, for some seconds. Fetches it from Debian's unstable suite, and builds in .build/pq, beside the other builds.
# Usage: run.sh             everything
#        run.sh FILTER      only tests whose names match a regular expression
set -euo pipefail
cd "$(dirname "$0")/../../.."

prefix=$(Tests/Checks/PostQuantum/sodium.sh)
Sources/Packaging/libsodium.sh "$prefix" shared
export PKG_CONFIG_PATH=$PWD/.build/sodium-link/pkgconfig SWIFT_BACKTRACE=enable=no
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

quiet=--quiet
[ ! -t 2 ] || quiet=
echo "swift build --build-tests, with libsodium 1.0.22"
# Tests start programs without the environment; LD_LIBRARY_PATH comes before a run path.
swift build --build-tests --scratch-path .build/pq $quiet -Xlinker -rpath -Xlinker "$prefix/lib" -Xlinker --enable-new-dtags

program=.build/pq/debug/pushcrypt
"$program" --version | grep -q post-quantum || {
    printf 'post-quantum: error: %s lacks suite 2: %s\n' "$program" "$("$program" --version)" >&2
    exit 1
}
export PUSHCRYPT_PROGRAM=$PWD/$program

# A library of the same name without X-Wing, here the system's: the program starts, even if it resolves every symbol then.
system=$(ldconfig -p | sed -nE 's/^\s*libsodium\.so\.23 .*=> //p' | head -n 1)
if [ -n "$system" ]; then
    cp "$system" "$TMPDIR/$(basename "$(readlink -f "$prefix/lib/libsodium.so")" | sed -E 's/(\.so\.[0-9]+).*/\1/')"
    version=$(LD_LIBRARY_PATH=$TMPDIR LD_BIND_NOW=1 "$program" --version)
    ! grep -q post-quantum <<<"$version" || { printf 'post-quantum: error: %s\n' "$version" >&2 && exit 1; }
fi
filter=()
[ $# -eq 0 ] || filter=(--filter "$1")
swift test --skip-build --scratch-path .build/pq -Xlinker -rpath -Xlinker "$prefix/lib" -Xlinker --enable-new-dtags --parallel ${filter[@]+"${filter[@]}"} 2>&1 | tee .build/pq-test.log |
    { grep -E '^(✘|↳|error:|warning:|✔ Test run)' || true; }
grep -aE '^SKIPPED' .build/pq-test.log | sort -u || true
if grep -aqE '^(✘|error:)' .build/pq-test.log; then exit 1; fi
[ $# -eq 0 ] || exit 0

if command -v strace >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 Tests/Checks/Faults/kill_points.py suite-2
else
    echo 'SKIPPED: commands of suite 2, killed at every system call: strace is missing'
fi

echo 'fuzz targets, with libsodium 1.0.22'
LD_LIBRARY_PATH=$prefix/lib FUZZ_WORK=.build/pq-fuzz FUZZ_SECONDS=10 Tests/Checks/Fuzz/run.sh short batch envelope inner keys row
