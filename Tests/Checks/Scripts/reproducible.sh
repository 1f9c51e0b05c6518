#!/usr/bin/env bash
# Builds the Debian packages of the last commit twice, in two folders with different names, and compares bytes. Takes as
# long as two clean builds. SOURCE_DATE_EPOCH is the time in both, by default that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

[ -z "$(git status --porcelain)" ] || echo 'reproducible: warning: what is not committed is not built' >&2
# Builds in a folder, with a umask, a time zone and a language.
build() {
    local copy=$place/$1
    mkdir -p "${copy%/*}"
    git clone -q --no-local "$root" "$copy"
    echo "reproducible: building in a folder of ${#copy} characters"
    (cd "$copy" && umask "$2" && env TZ="$3" LANG="$4" make deb) >"$place/log" 2>&1 || {
        tail -n 20 "$place/log" >&2
        echo "reproducible: error: the packages cannot be built" >&2
        exit 1
    }
    mkdir -p "$place/packages/$5"
    mv "$copy"/.build/packages/*.deb "$place/packages/$5/"
    # Two concurrent builds would need the space of both.
    rm -rf "$copy"
}
build a 022 UTC C one
build another/folder/with/a/longer-name 027 Asia/Tokyo C.UTF-8 two

[ "$(ls "$place/packages/one")" = "$(ls "$place/packages/two")" ] || {
    echo 'reproducible: error: there are other packages' >&2
    exit 1
}
for first in "$place"/packages/one/*.deb; do
    name=${first##*/}
    if ! cmp "$first" "$place/packages/two/$name"; then
        for side in one two; do
            dpkg-deb -R "$place/packages/$side/$name" "$place/$side"
            (cd "$place/$side" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2) >"$place/$side.sums"
        done
        diff "$place/one.sums" "$place/two.sums" >&2 || true
        echo "reproducible: error: the two packages $name differ" >&2
        exit 1
    fi
    echo "reproducible: $name, $(stat -c %s "$first") bytes, the same from two folders: sha256 $(sha256sum "$first" | cut -c 1-64)"
done
