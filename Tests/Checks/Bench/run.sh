#!/usr/bin/env bash
# Measures speed and size, and prints a table: the overhead over the bare libsodium calls, the cost of one process
# beside `age`, and whether each limit is met. Called by `make bench`, which builds the command and installs the rest,
# with the options of `swift build` that it built with. A missed limit is a failure; since a limit is a ratio within one
# run, another machine meets it too, unless it is busy: a part that misses one is measured a second time, and then that counts.
set -euo pipefail
cd "$(dirname "$0")/../../.."

quiet=--quiet
[ ! -t 2 ] || quiet=
swift build -c release "$@" --product PushcryptBench $quiet
bench=.build/release/PushcryptBench
# Not empty if libsodium has suite 2.
suite2=$("$bench" suites | sed -n '/2/p')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows a command's output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
}

# Runs a part with an empty folder, twice if it misses a limit the first time.
part() {
    for attempt in 1 2; do
        rm -rf "$work/part"
        mkdir "$work/part"
        "$1" "$work/part" >"$work/rows"
        if [ $attempt = 1 ] && grep -q 'NOT MET' "$work/rows"; then
            sed 's/NOT MET/measured again/' "$work/rows"
        else
            cat "$work/rows"
            return
        fi
    done
}

# The library: five processes, because each has a different memory layout.
library() {
    for _ in 1 2 3 4 5; do "$bench" sample; done >"$1/samples"
    "$bench" library <"$1/samples"
}

# A million devices, of each suite.
store() {
    "$bench" store "$1/devices"
    [ -z "$suite2" ] || rm -rf "$1/devices"
    [ -z "$suite2" ] || "$bench" store "$1/devices-2" 2
}

# A phone: one delivery, and memory, each in a separate process.
delivery() {
    read -r delivery bare <<<"$("$service" "$1/extension")"
    "$bench" delivery "$delivery" "$bare"
}

memory() {
    "$bench" seal-file 65537 "$1/small"
    "$bench" seal-file 52428800 "$1/large"
    read -r early late <<<"$("$bench" open-million "$1/million")"
    "$bench" memory "$("$bench" idle)" "$("$bench" open-one "$1/one")" "$early" "$late" "$("$bench" open-file "$1/small")" \
        "$("$bench" open-file "$1/large")" ${suite2:+"$("$bench" open-one "$1/one-2" 2)"}
}

# Many messages in one process.
batch() { Tests/Checks/Bench/batch.sh "$bench" "$pushcrypt" "$1"; }

# One command beside age: a store with a key file, and 200 bytes to seal.
command_row() {
    provider=$1/provider
    phone=$1/phone
    payload=$1/payload.json
    printf '%s' '{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us' \
    ' until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}' >"$payload"
    quietly "$pushcrypt" --store "$provider" init
    quietly "$pushcrypt" --store "$phone" init
    quietly "$pushcrypt" --store "$provider" key new provider
    quietly "$pushcrypt" --store "$phone" key new device
    "$pushcrypt" --store "$phone" key show >"$1/registration"
    quietly "$pushcrypt" --store "$provider" device add phone1 "$1/registration"
    quietly age-keygen -o "$1/age.key"
    seal=("$pushcrypt" --store "$provider" seal --to phone1 --topic com.example.app "$payload")
    age=(age -r "$(age-keygen -y "$1/age.key")" "$payload")

    # Five times in turn, so that a busy moment affects both. -N: no shell, whose start would also be measured.
    commands=()
    for _ in 1 2 3 4 5; do commands+=("$(printf '%q ' "${seal[@]}")" "$(printf '%q ' "${age[@]}")"); done
    quietly hyperfine -N --warmup 10 --runs 100 --export-csv "$1/times" "${commands[@]}"
    quietly /usr/bin/time -f %M -o "$1/memory" "${seal[@]}"
    "$bench" command "$(<"$1/memory")" <"$1/times"
}

# Foundation cannot be linked statically (it needs libcurl's archive), and other options would rebuild everything.
swift build -c release --scratch-path .build/service-bench --product ServiceBench $quiet
service=.build/service-bench/release/ServiceBench
# A copy, like an installed command: a file just written by the linker is mapped page by page, which takes 0.2 ms longer.
pushcrypt=$work/pushcrypt
cp .build/release/pushcrypt "$pushcrypt"

missing=
for tool in age age-keygen hyperfine /usr/bin/time; do command -v "$tool" >/dev/null || missing+=" $tool"; done
measure() {
    parts=(library store delivery memory batch)
    if [ -n "$missing" ]; then echo "SKIPPED: one command beside age: missing:$missing"; else parts+=(command_row); fi
    for name in "${parts[@]}"; do part "$name"; done
}
measure | tee "$work/table"

echo
echo 'One seal of 200 bytes, the libsodium calls alone:'
"$bench" parts

if grep -q 'NOT MET' "$work/table"; then
    echo 'error: bench: a limit is not met' >&2
    exit 1
fi
