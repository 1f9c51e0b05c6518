#!/usr/bin/env bash
# Follows a package's README: writes each block below `<!-- example: NAME -->` to the file NAME in an empty folder, and runs the one called
# `shell` there, with no variables but those given. What it prints has to be what the last block, called `shown`, shows; then the command has to open
# the push that it wrote.
# Usage: readme.sh README FOLDER [NAME=VALUE]…
set -euo pipefail
cd "$(dirname "$0")/../../.."
readme=$PWD/$1 folder=$2 pushcrypt=$PWD/.build/release/pushcrypt
shift 2
rm -rf "$folder" && mkdir -p "$folder/home"
awk -v folder="$folder" '
    sub(/^<!-- example: /, "") && sub(/ -->$/, "") { name = $0; next }
    name && /^```/ { if (inside) { close(folder "/" name); name = "" }; inside = !inside; next }
    inside && name { print > (folder "/" name) }' "$readme"
cd "$folder"
[ -s shell ] && [ -s shown ] || { echo "packages: error: $readme has no examples called shell and shown" >&2; exit 1; }
env -i HOME="$folder/home" LANG=C.UTF-8 "$@" bash -euo pipefail shell >output 2>errors || {
    echo "packages: error: the commands of $readme fail, in $folder" >&2
    cat output errors >&2
    exit 1
}
if ! tail -n "$(wc -l <shown)" output | cmp -s shown -; then
    echo "packages: error: $readme shows something else than its commands print" >&2
    diff shown output >&2
    exit 1
fi
HOME=$folder/home "$pushcrypt" open --banner --topic com.example.app --device-key-file phone.key --provider "$(cat provider.pub)" push.json >banner
grep -q 'See you at 8' banner || { echo "packages: error: pushcrypt does not show the push of $readme" >&2; cat banner >&2; exit 1; }
