#!/usr/bin/env bash
# Measures `seal --batch` as a whole process, from its start to its end: lines of 200-byte payloads against the same number of bare
# libsodium seals, with one job and with two, with keys in the lines and with devices of a store, and a million lines; and
# `device add --batch`, with as many new devices from a pipe.
# Called by run.sh, with the bench, the command and a folder to work in.
set -euo pipefail
bench=$1 pushcrypt=$2 work=$3
lines=20000
devices=100000
million=1000000
topic=com.example.app
payload='{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us until a quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}'

provider=$work/provider
"$pushcrypt" --store "$provider" init 2>/dev/null
"$pushcrypt" --store "$provider" key new provider >/dev/null
"$pushcrypt" key new provider --output "$work/provider.key" >/dev/null
# As many devices as a small app has, each with its own key.
"$bench" devices "$devices" >"$work/devices.ndjson"
"$pushcrypt" --store "$provider" device import "$work/devices.ndjson" 2>/dev/null

# Lines for every device in turn, in an order that no cache likes, to its key or to its id.
write_lines() { # COUNT key|id [DEVICES]
    awk -v count="$1" -v what="$2" -v devices="${3:-0}" -v payload="$payload" -F '"' '
        { id[NR] = $4; for (i = 5; i < NF; i++) if ($i == "public_key") key[NR] = $(i + 2) }
        END {
            if (devices) NR = devices
            for (i = 0; i < count; i++) {
                place = (i * 7919) % NR + 1
                printf "{\"to\":\"%s\",\"payload\":%s,\"n\":%d}\n", what == "key" ? key[place] : id[place], payload, i
            }
        }' "$work/devices.ndjson"
}
write_lines "$lines" key >"$work/keys"
write_lines "$lines" id >"$work/ids"

# Seconds of one run: 20,000 lines, JOBS workers.
seconds() { # JOBS FILE OPTION…
    rm -f "$work/sealed" # Emptying a file takes time.
    local start=$EPOCHREALTIME jobs=$1 file=$2
    shift 2
    "$pushcrypt" seal --batch --jobs "$jobs" --topic "$topic" "$@" <"$file" >"$work/sealed"
    awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.6f\n", end - start }'
}
with_keys=(--signing-key-file "$work/provider.key")
with_store=(--store "$provider")

# Seconds of the bare seals in two processes at once, by the slower one: what a second core is worth on this machine.
seconds_of_two() {
    "$bench" bare "$lines" >"$work/bare" &
    local first=$! second
    second=$("$bench" bare "$lines")
    wait "$first"
    echo "$(<"$work/bare") $second" | awk '{ print ($1 > $2 ? $1 : $2) }'
}

# Seconds of as many registrations in a store that has many already.
seconds_of_registrations() {
    "$bench" devices "$lines" >"$work/new.ndjson"
    local start=$EPOCHREALTIME
    cat "$work/new.ndjson" | "$pushcrypt" --store "$provider" device add --batch --reply >"$work/registered"
    awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.6f\n", end - start }'
}

# Five times in turn, so that a busy moment affects all of them.
for _ in 1 2 3 4 5; do
    echo "$("$bench" bare "$lines")" "$(seconds_of_two)" "$(seconds 1 "$work/keys" "${with_keys[@]}")" \
        "$(seconds 2 "$work/keys" "${with_keys[@]}")" "$(seconds 1 "$work/ids" "${with_store[@]}")" "$(seconds_of_registrations)"
done >"$work/batches"

# Suite 2, with keys in the lines, where libsodium has it.
if "$bench" suites | grep -q 2; then
    "$bench" devices 2000 2 >"$work/devices-2.ndjson"
    mv "$work/devices.ndjson" "$work/devices-1.ndjson"
    mv "$work/devices-2.ndjson" "$work/devices.ndjson"
    write_lines "$((lines / 2))" key >"$work/keys-2"
    mv "$work/devices-1.ndjson" "$work/devices.ndjson"
    for _ in 1 2 3 4 5; do
        echo "$("$bench" bare "$((lines / 2))" 2)" "$(seconds 1 "$work/keys-2" "${with_keys[@]}")"
    done | "$bench" batch-suite-2 "$((lines / 2))"
fi

# The processor time for 10,000 lines, and for a million to the same devices, and the memory of the latter.
cost() { # LINES: user and system seconds, kilobytes
    write_lines "$1" id 10000 >"$work/many"
    /usr/bin/time -f '%U %S %M' -o "$work/cost" \
        "$pushcrypt" seal --batch --topic "$topic" "${with_store[@]}" <"$work/many" >/dev/null
    awk -v lines="$1" '{ print ($1 + $2) / lines * 1e6, $3 }' "$work/cost"
}
few=$(for _ in 1 2 3 4 5; do cost 10000; done | sort -n | sed -n '3s/ .*//p')
many=$(cost "$million")
rm -f "$work/many"
"$bench" batch "$lines" "$few" ${many} <"$work/batches"
