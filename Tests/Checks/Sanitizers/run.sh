#!/usr/bin/env bash
# The whole test suite under the address sanitizer, then under the thread sanitizer. Tests that cannot run there are
# listed below with their reasons, and counted. Leak detection is off: Swift's runtime and SQLite keep memory until the
# process ends.
set -euo pipefail
cd "$(dirname "$0")/../../.."
state=.build/long/sanitizers
mkdir -p "$state"
# A sanitizer handles memory faults itself, so an expected signal must bypass it.
export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:allocator_may_return_null=1
# Nor does a program wait for a second at its end for races in other threads: tests measure durations.
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:halt_on_error=0:exitcode=66:atexit_sleep_ms=0
export SWIFT_BACKTRACE=enable=no
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# NAME of a test and why it does not run under the sanitizer; ADDRESS, THREAD or BOTH.
skipped=(
    "BOTH PushcryptTests.SecretMemoryTests looks at freed memory, which the sanitizer keeps back and fills"
    "BOTH PushcryptTests.SodiumStoreKDFTests/withoutTheMemoryThereIsNoKeyAndNotOneOfZeros limits the address space, of which the sanitizer takes terabytes"
    "BOTH CommandTests.BatchDevicesTests/fanOut measures memory, of which the sanitizer takes its own part"
    "BOTH CommandTests.BatchProgramTests/backPressure measures memory, of which the sanitizer takes its own part"
)

figures=()
for sanitizer in address thread; do
    log=$state/$sanitizer.log
    scratch=$state/$sanitizer
    skip=()
    for line in "${skipped[@]}"; do
        read -r where name reason <<<"$line"
        [ "$where" = BOTH ] || [ "$where" = "${sanitizer^^}" ] || continue
        skip+=(--skip "^${name//./\\.}([/(]|\$)")
        echo "$sanitizer: skipped: $name: it $reason"
    done
    echo "$sanitizer: builds"
    nice -n 5 swift build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch" --quiet
    nice -n 5 swift test --skip-build --parallel --sanitize="$sanitizer" --scratch-path "$scratch" "${skip[@]}" \
        >"$log" 2>&1 || true
    # Without its last line the run crashed.
    end=$(LC_ALL=C grep -aE '^[^ ]+ Test run with [1-9]' "$log" || true)
    tests=$(sed -nE 's/.* Test run with ([0-9]+) .*/\1/p' <<<"$end")
    issues=$(sed -nE 's/.* with ([0-9]+) issues?\.$/\1/p' <<<"$end")
    # A transcript's requirements may fail under a sanitizer.
    LC_ALL=C grep -aE '^SKIPPED: transcript' "$log" | sed "s/^/$sanitizer: /" || true
    transcripts=$(LC_ALL=C grep -acE '^SKIPPED: transcript' "$log" || true)
    reports=$(LC_ALL=C grep -acE '^(==[0-9]+==ERROR: AddressSanitizer|WARNING: ThreadSanitizer)' "$log" || true)
    if [ -z "$end" ] || [ -n "$issues" ] || [ "$reports" -ne 0 ]; then
        LC_ALL=C grep -aE '^✘ Test .* recorded an issue|ERROR: AddressSanitizer|WARNING: ThreadSanitizer|^SUMMARY' "$log" | head -n 20 >&2
        echo "sanitizers: error: $sanitizer: $reports reports, ${issues:-0} issues, last line '$end'; the whole log is $log" >&2
        exit 1
    fi
    figures+=("$sanitizer-tests=$tests" "$sanitizer-skipped=$((${#skip[@]} / 2))" "$sanitizer-transcripts-skipped=$transcripts" "$sanitizer-reports=0")
    # Also many threads on one session.
    if [ "$sanitizer" = thread ]; then
        swift build --sanitize=thread --scratch-path "$scratch" --product Races --quiet
        "$scratch/debug/Races" 100000 >>"$log" 2>&1 || { echo "sanitizers: error: Races: see $log" >&2; exit 1; }
    fi
done
echo "figure: sanitizers ${figures[*]} failures=0"
