#!/usr/bin/env bash
# Measures speed and size, and prints a table: the overhead over the bare libsodium calls, the cost of one process
# beside `age`, and whether each limit is met. Called by `make bench`, which builds the command and installs the rest,
# with the options of `swift build` that it built with. A missed limit is a failure; since a limit is a ratio within one
# run, another machine meets it too, unless it is busy.
set -euo pipefail
cd "$(dirname "$0")/../../.."

quiet=--quiet
[ ! -t 2 ] || quiet=
swift build -c release "$@" --product PushcryptBench $quiet
bench=.build/release/PushcryptBench

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows a command's output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
}

measure() {
    # The library: five processes, because each has a different memory layout.
    for _ in 1 2 3 4 5; do "$bench" sample; done >"$work/samples"
    "$bench" library <"$work/samples"

    # A million devices.
    "$bench" store "$work/devices"

    # A phone: one delivery, and memory, each in a separate process. Foundation cannot be linked statically (it needs
    # libcurl's archive), and other options would rebuild everything.
    service=.build/service-bench
    swift build -c release --scratch-path $service --product ServiceBench $quiet
    read -r delivery bare <<<"$($service/release/ServiceBench "$work/extension")"
    "$bench" delivery "$delivery" "$bare"
    small=$work/small
    large=$work/large
    "$bench" seal-file 65537 "$small"
    "$bench" seal-file 52428800 "$large"
    read -r early late <<<"$("$bench" open-million "$work/million")"
    "$bench" memory "$("$bench" idle)" "$("$bench" open-one "$work/one")" "$early" "$late" "$("$bench" open-file "$small")" \
        "$("$bench" open-file "$large")"

    # One command: a store with a key file, and 200 bytes to seal.
    missing=
    for tool in age age-keygen hyperfine /usr/bin/time; do command -v "$tool" >/dev/null || missing+=" $tool"; done
    if [ -n "$missing" ]; then
        echo "SKIPPED: one command beside age: missing:$missing"
        return
    fi
    # A copy, like an installed command: a file just written by the linker is mapped page by page, which takes 0.2 ms
    # longer.
    pushcrypt=$work/pushcrypt
    cp .build/release/pushcrypt "$pushcrypt"

    # Many messages in one process.
    mkdir "$work/batch"
    Tests/Checks/Bench/batch.sh "$bench" "$pushcrypt" "$work/batch"

    provider=$work/provider
    phone=$work/phone
    payload=$work/payload.json
    printf '%s' '{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us' \
    ' until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}' >"$payload"
    quietly "$pushcrypt" --store "$provider" init
    quietly "$pushcrypt" --store "$phone" init
    quietly "$pushcrypt" --store "$provider" keygen sender
    quietly "$pushcrypt" --store "$phone" keygen device
    "$pushcrypt" --store "$phone" export device >"$work/registration"
    quietly "$pushcrypt" --store "$provider" device add phone1 "$work/registration"
    quietly age-keygen -o "$work/age.key"
    seal=("$pushcrypt" --store "$provider" seal --to phone1 --topic com.example.app "$payload")
    age=(age -r "$(age-keygen -y "$work/age.key")" "$payload")

    # Five times in turn, so that a busy moment affects both. -N: no shell, whose start would also be measured.
    commands=()
    for _ in 1 2 3 4 5; do commands+=("$(printf '%q ' "${seal[@]}")" "$(printf '%q ' "${age[@]}")"); done
    quietly hyperfine -N --warmup 10 --runs 100 --export-csv "$work/times" "${commands[@]}"
    quietly /usr/bin/time -f %M -o "$work/memory" "${seal[@]}"
    "$bench" command "$(<"$work/memory")" <"$work/times"
}
measure | tee "$work/table"

echo
echo 'One seal of 200 bytes, the libsodium calls alone:'
"$bench" parts

if grep -q 'NOT MET' "$work/table"; then
    echo 'error: bench: a limit is not met' >&2
    exit 1
fi
