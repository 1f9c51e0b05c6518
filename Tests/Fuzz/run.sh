#!/usr/bin/env bash
# Builds the fuzz targets under libFuzzer and the address sanitizer, and runs them. See README.md.
# Usage: run.sh fuzz SECONDS [TARGET ...]      each target for so long, two at a time; adds a line for each to the ledger
#        run.sh short                          replays the corpus and tries some thousand inputs more, for `make test`
#        run.sh minimise [TARGET ...]          puts what was found into the corpus, as few files as reach as much
#        run.sh try TARGET FILE                runs one input
#        run.sh figures                        prints the sums of the ledger
# FUZZ_PROGRAMS names a folder with programs that were built before; FUZZ_JOBS says how many targets run at a time.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=Tests/Fuzz
work=.build/fuzz
ledger=$here/ledger.tsv
programs=${FUZZ_PROGRAMS:-}
jobs=${FUZZ_JOBS:-2}

# Each target with the program that it is in, and the longest input that is tried.
table='arguments FuzzProgram 256
attachment FuzzFormat 120
batch FuzzProgram 512
envelope FuzzProgram 600
inner FuzzFormat 400
json FuzzFormat 512
keys FuzzFormat 120
rotation FuzzFormat 200
row FuzzProgram 200'
all=$(cut -d ' ' -f 1 <<<"$table")

# A crash must end the run at once. No memory is lost where guarded memory is kept for life.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0

fail() {
    echo "fuzz: error: $1" >&2
    exit 1
}

build() {
    [ -z "$programs" ] || return 0
    programs=$work/release
    local product
    for product in FuzzFormat FuzzProgram; do
        PUSHCRYPT_FUZZ=1 swift build -c release --scratch-path "$work" --product "$product" --quiet \
            -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library -Xswiftc -enable-testing \
            -Xswiftc -Xfrontend -Xswiftc -function-sections
    done
}

# The command that runs a target, without what it is to do.
command_of() {
    local target program longest
    read -r target program longest < <(grep "^$1 " <<<"$table") || fail "no target is called $1: there are $(xargs <<<"$all")"
    command=("$programs/$program" "$target" "-max_len=$longest" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1
        "-artifact_prefix=$work/faults/$target-")
    [ ! -f "$here/dictionaries/$target.dict" ] || command+=("-dict=$here/dictionaries/$target.dict")
}

# Runs a target, and says how it ended; the arguments after the second are libFuzzer's.
run() {
    local target=$1 log=$work/logs/$1.log
    shift
    local command
    command_of "$target"
    mkdir -p "$work/corpus/$target" "$here/corpus/$target"
    "${command[@]}" "$@" "$work/corpus/$target" "$here/corpus/$target" >"$log" 2>&1 && return 0
    {
        echo "fuzz: $target: a fault:"
        grep -aE '^fuzz: this does not hold|^SUMMARY|ERROR: |^Fatal error|: Fatal error' "$log" | head -n 3 || true
        local input
        input=$(sed -nE 's/.*Test unit written to (.*)$/\1/p' "$log" | tail -n 1)
        echo "fuzz: again: $here/run.sh try $target ${input:-FILE}; the log is $log"
    } >&2
    return 1
}

# Runs targets, some at a time: each with the function that the first argument names.
run_all() {
    local each=$1 target running=0 failed=0
    shift
    for target; do
        if [ "$running" -ge "$jobs" ]; then
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

# The commit that runs, with a + where the sources differ from it.
version() {
    local commit
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo -; return; }
    git diff --quiet HEAD -- Package.swift Sources KeyStore "$here/Harness" "$here/Format" "$here/Program" 2>/dev/null || commit+=+
    echo "$commit"
}

fuzz_one() {
    local target=$1 status=0 result=ok start=$SECONDS log=$work/logs/$1.log executions edges
    run "$target" -max_total_time="$seconds" || { status=1 result=fault; }
    executions=$(sed -nE 's/^stat::number_of_executed_units: +//p' "$log" | tail -n 1)
    edges=$(grep -aoE 'cov: [0-9]+' "$log" | tail -n 1 | cut -c 6-)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$commit" "$target" $((SECONDS - start)) "${executions:-0}" \
        "${edges:-0}" "$result" >>"$ledger"
    echo "$target: ${executions:-0} executions, ${edges:-0} edges: $result"
    return "$status"
}

short_one() {
    run "$1" -runs=20000 -max_total_time=3 -seed="${SEED:-1}"
}

minimise_one() {
    local target=$1 command new=$work/minimised/$1
    command_of "$target"
    rm -rf "$new"
    mkdir -p "$new" "$work/corpus/$target" "$here/corpus/$target"
    "${command[@]}" -merge=1 -max_len=400 "$new" "$here/corpus/$target" "$work/corpus/$target" >"$work/logs/$target.log" 2>&1
    rm -rf "${here:?}/corpus/$target"
    mv "$new" "$here/corpus/$target"
    echo "$target: $(find "$here/corpus/$target" -type f | wc -l) inputs"
}

figures() {
    awk -F '\t' 'NR > 1 {
        executions[$3] += $5; seconds[$3] += $4; total += $5; time += $4
        if ($6 > edges[$3]) edges[$3] = $6
        if ($7 != "ok") faults[$3]++
    } END {
        for (target in executions) {
            printf "figure: fuzz-%s executions=%.0f seconds=%.0f edges=%d\n", target, executions[target], seconds[target], edges[target] | "LC_ALL=C sort"
            if (!least || executions[target] < least) least = executions[target]
            targets++
        }
        close("LC_ALL=C sort")
        printf "figure: fuzz executions=%.0f seconds=%.0f targets=%d fewest-executions=%.0f\n", total, time, targets, least
    }' "$ledger"
}

mkdir -p "$work/logs" "$work/faults"
what=${1:-}
shift || true
case $what in
fuzz)
    [[ ${1:-} =~ ^[1-9][0-9]*$ ]] || fail 'how many seconds? make fuzz SECONDS=60'
    seconds=$1
    shift
    [ $# -gt 0 ] || set -- $all
    for target; do command_of "$target"; done
    commit=$(version)
    build
    status=0
    run_all fuzz_one "$@" || status=1
    figures
    exit $status
    ;;
short)
    build
    run_all short_one $all
    ;;
minimise)
    build
    [ $# -gt 0 ] || set -- $all
    run_all minimise_one "$@"
    ;;
try)
    build
    command_of "$1"
    exec "${command[@]}" "$2"
    ;;
figures) figures ;;
*)
    sed -n '3,9s/^# //p' "$0" >&2
    exit 64
    ;;
esac
