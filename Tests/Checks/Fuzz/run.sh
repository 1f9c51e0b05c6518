#!/usr/bin/env bash
# Builds the fuzz targets under libFuzzer and the address sanitizer, and runs them. See README.md.
# Usage: run.sh fuzz SECONDS [TARGET ...]      each target for so long, two at a time; adds a line for each to the ledger
#        run.sh short [TARGET ...]             replays the corpus and tries some thousand inputs more, for `make check`
#        run.sh minimise [TARGET ...]          puts what was found into the corpus: as few files as reach as much
#        run.sh try TARGET FILE                runs one input
# FUZZ_SECONDS is the time of a short run, FUZZ_WORK the folder instead of .build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=Tests/Checks/Fuzz
work=${FUZZ_WORK:-.build/fuzz}
logs=$work/logs
seeds=$work/seeds
ledger=$here/ledger.tsv

# Each target with the longest input to try.
table='answer 700
arguments 256
attachment 120
batch 512
envelope 2000
formats 300
inner 400
json 200
keys 120
pairing 400
response 300
row 200
trust 200'
all=$(cut -d ' ' -f 1 <<<"$table")

# A crash must end the run immediately. Leak detection is off: data shared by all inputs is kept for the life of the
# process.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0

fail() {
    echo "fuzz: error: $1" >&2
    exit 1
}

# The commit being built, with a + if the sources differ from it.
version() {
    local commit
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo -; return; }
    git diff --quiet HEAD -- Package.swift Sources KeyStore "$here/Fuzzer" Tests/Support/FuzzTargets 2>/dev/null || commit+=+
    echo "$commit"
}

# Builds the program, optimised or, in half the time, not.
build() {
    PUSHCRYPT_FUZZ=1 swift build -c release --scratch-path "$1" --product Fuzzer --quiet \
        -Xswiftc "$2" -Xswiftc -enable-testing -Xswiftc -parse-as-library \
        -Xswiftc -sanitize=fuzzer,address -Xswiftc -Xfrontend -Xswiftc -function-sections
    programs=$1/release
}

# Sets `command` to the command line of a target, without its task.
command_of() {
    local target longest
    read -r target longest < <(grep "^$1 " <<<"$table") || fail "no target is called $1: there are $(xargs <<<"$all")"
    command=(env "FUZZ_TARGET=$target" "$programs/Fuzzer" "-max_len=$longest" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 -interrupted_exitcode=0
        "-artifact_prefix=$work/faults/$target-")
    [ ! -f "$here/dictionaries/$target.dict" ] || command+=("-dict=$here/dictionaries/$target.dict")
}

# Writes a target's corpus as files.
unpack() {
    rm -rf "${seeds:?}/$1"
    "$here/corpus.py" unpack "$1" "$seeds/$1"
}

# Runs a target from its corpus, and prints how to reproduce a fault. Findings go to a folder; the other arguments are
# libFuzzer's.
run() {
    local target=$1 found=$2 command log=$logs/$1.log input
    shift 2
    command_of "$target"
    mkdir -p "$found"
    unpack "$target"
    ! "${command[@]}" "$@" "$found" "$seeds/$target" >"$log" 2>&1 || return 0
    {
        echo "fault: the target $target has ended:"
        grep -aE '^fault:|^SUMMARY|ERROR: |Fatal error' "$log" | head -n 3 || true
        input=$(sed -nE 's/.*Test unit written to (.*)$/\1/p' "$log" | tail -n 1)
        echo "fault: again: $here/run.sh try $target ${input:-FILE}; the log is $log"
    } >&2
    return 1
}

# The number of inputs that a target tried in its last run.
executions() {
    local count
    count=$(sed -nE 's/^stat::number_of_executed_units: +//p' "$logs/$1.log" | tail -n 1)
    echo "${count:-0}"
}

# Calls a function for each target, for two at a time.
run_all() {
    local each=$1 target running=0 failed=0
    shift
    for target; do
        if [ "$running" -ge 2 ]; then
            wait -n || failed=1
            running=$((running - 1))
        fi
        "$each" "$target" &
        running=$((running + 1))
    done
    while [ "$running" -gt 0 ]; do
        wait -n || failed=1
        running=$((running - 1))
    done
    return "$failed"
}

fuzz_one() {
    local target=$1 status=0 result=ok start=$SECONDS count edges
    run "$target" "$work/corpus/$target" -max_total_time="$seconds" || status=1 result=fault
    count=$(executions "$target")
    edges=$(grep -aoE 'cov: [0-9]+' "$logs/$target.log" | tail -n 1 | cut -c 6-)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$commit" "$target" $((SECONDS - start)) "$count" "${edges:-0}" \
        "$result" >>"$ledger"
    echo "$target: $count executions, ${edges:-0} edges: $result"
    return "$status"
}

short_one() {
    run "$1" "$work/short/$1" -runs=20000 -max_total_time="${FUZZ_SECONDS:-2}" -seed="${SEED:-1}" || return 1
    echo "fuzz: $1: $(executions "$1")"
}

minimise_one() {
    local target=$1 command new=$work/minimised/$1
    command_of "$target"
    rm -rf "$new"
    mkdir -p "$new" "$work/corpus/$target"
    unpack "$target"
    "${command[@]}" -set_cover_merge=1 -use_counters=0 "$new" "$seeds/$target" "$work/corpus/$target" >"$logs/$target-merge.log" 2>&1
    "$here/corpus.py" pack "$target" "$new"
}

figures() {
    awk -F '\t' -v all="$(xargs <<<"$all")" 'NR > 1 {
        executions[$3] += $5; seconds[$3] += $4; total += $5; time += $4
        if ($6 > edges[$3]) edges[$3] = $6
        if ($7 != "ok") faults++
    } END {
        # Also those that never ran.
        count = split(all, targets, " ")
        least = total
        for (i = 1; i <= count; i++) {
            target = targets[i]
            printf "figure: fuzz-%s executions=%.0f seconds=%.0f edges=%d\n", target, executions[target], seconds[target], edges[target]
            if (executions[target] < least) least = executions[target]
        }
        printf "figure: fuzz executions=%.0f seconds=%.0f targets=%d fewest-executions=%.0f faults=%d\n", total, time, count,
            least, faults
        if (total < 1e8 || least < 1e6) {
            print "fuzz: error: the ledger is below its aims: 100,000,000 executions, and 1,000,000 of each target" >"/dev/stderr"
            exit 1
        }
    }' "$ledger"
}

what=${1:-}
shift || true
# A short run concurrent with a long one does not touch its logs.
[ "$what" != short ] || logs=$work-short/logs seeds=$work-short/seeds
mkdir -p "$logs" "$work/faults"
case $what in
fuzz)
    [[ ${1:-} =~ ^[1-9][0-9]*$ ]] || fail 'how many seconds? make fuzz SECONDS=60'
    seconds=$1
    shift
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $all
    for target; do command_of "$target"; done
    build "$work" -O
    commit=$(version)
    status=0
    run_all fuzz_one "$@" || status=1
    figures
    exit $status
    ;;
short)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $all
    build "$work-short" -Onone
    rm -rf "$work/short"
    run_all short_one "$@"
    ;;
minimise)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $all
    build "$work" -O
    run_all minimise_one "$@"
    ;;
try)
    build "$work" -O
    command_of "$1"
    exec "${command[@]}" "$2"
    ;;
*)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 64
    ;;
esac
