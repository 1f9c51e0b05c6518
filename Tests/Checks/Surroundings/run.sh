#!/usr/bin/env bash
# Runs both programs without /proc, without /dev, and without descriptors 0 to 2.
# Usage: run.sh PROGRAM      a command that was built, with pushcrypt-send beside it
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unshare -rm mount -t tmpfs none /mnt || { echo 'SKIPPED: surroundings: nothing can be mounted here'; exit 0; }

# Runs a script where a folder of the system is empty, and compares what it prints.
without() {
    mkdir "$folder/$1"
    (cd "$folder/$1" && unshare -rm bash -euc "mount -t tmpfs none /$2; $3" "$program") >"$folder/printed" 2>&1 &&
        diff - "$folder/printed" <<<"$4" || { echo "FAILED: surroundings: $1: $(<"$folder/printed")" >&2; exit 1; }
}

# A message from a new provider to a new phone, and to pushcrypt-send.
way='
    for store in P D; do "$0" -q --store $store init; done
    "$0" -q --store P key new provider --topic com.example.app >provider.pub
    "$0" -q --store D key new device --topic com.example.app >phone.pub
    "$0" -q --store P device add phone1 phone.pub
    "$0" -q --store D provider pin provider.pub
    echo "{\"to\":\"phone1\",\"token\":\"0a1b\",\"payload\":{\"aps\":{\"alert\":\"See you at 8\"}}}" >line
    "$0" -q --store P seal --batch --emit request line >sealed
    "$0" -q --store D open --batch sealed | grep -o "See you at 8" | uniq
    "$0" --store P send --dry-run sealed'
arrived='See you at 8
{"to":"phone1","dry_run":true,"token":"0a1b"}'
without proc proc "$way" "$arrived"
without dev dev "$way" "$arrived"

# Closed streams, and no /dev/null in their place: writing to them is an error, and goes to no file of the store.
without descriptors dev '
    "$0" --store P init <&- >&- 2>&-
    "$0" --store P key new provider --topic com.example.app <&- >&- 2>&- || echo $?
    "$0" --store P send --dry-run <&- >&- 2>&- || echo $?
    "$0" --store P doctor >findings; grep ^problem findings || "$0" --store P key show | cut -c 1-4' '1
1
pcs1'
