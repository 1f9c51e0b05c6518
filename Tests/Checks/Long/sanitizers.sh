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
    "BOTH KeyStoreTests.ExtensionFileTests/aProcessThatIsKilledLeavesAFileThatCanBeReadAndWritten counts what a process writes before it is killed, by time"
    "BOTH CommandTests.BatchDevicesTests/fanOut measures memory, of which the sanitizer takes its own part"
    "BOTH CommandTests.BatchProgramTests/backPressure measures memory, of which the sanitizer takes its own part"
)

. Tests/Checks/Scripts/waiting.sh
figures=()
for sanitizer in address thread; do
    log=$state/$sanitizer.log
    : >"$log"
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
    # Time limits of tests are ignored here: a sanitizer takes several times as long. All other issues count.
    run() {
        nice -n 5 swift test --skip-build --parallel --sanitize="$sanitizer" --scratch-path "$scratch" "${skip[@]}" "$@" \
            >>"$log" 2>&1 || true
    }
    run --skip "$waiting"
    run --filter "$waiting"
    runs=$(LC_ALL=C grep -acE '^[^ ]+ Test run with [1-9]' "$log" || true)
    tests=$(LC_ALL=C grep -aoE ' Test run with [0-9]+' "$log" | awk '{ sum += $NF } END { print sum + 0 }')
    issues=$(LC_ALL=C grep -aE '^[^ ]+ Test run with [1-9]' "$log" | sed -nE 's/.* with ([0-9]+) issues?\.$/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
    issues=$((issues - $(LC_ALL=C grep -acE 'Time limit was exceeded: [0-9.]+ seconds$' "$log" || true)))
    # A transcript's requirements may fail under a sanitizer.
    LC_ALL=C grep -aE '^SKIPPED: transcript' "$log" | sed "s/^/$sanitizer: /" || true
    transcripts=$(LC_ALL=C grep -acE '^SKIPPED: transcript' "$log" || true)
    reports=$(LC_ALL=C grep -acE '^(==[0-9]+==ERROR: AddressSanitizer|WARNING: ThreadSanitizer)' "$log" || true)
    # Both runs reached their end, so neither crashed.
    if [ "$runs" -ne 2 ] || [ "$issues" -ne 0 ] || [ "$reports" -ne 0 ]; then
        LC_ALL=C grep -aE '^✘ Test .* recorded an issue|ERROR: AddressSanitizer|WARNING: ThreadSanitizer|^SUMMARY' "$log" | head -n 20 >&2
        echo "sanitizers: error: $sanitizer: $reports reports, $issues issues, $runs of 2 runs ended; the whole log is $log" >&2
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
