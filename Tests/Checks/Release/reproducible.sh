#!/usr/bin/env bash
# Runs `make packages` on the last commit twice, in two folders with different names, and compares bytes. Takes as long as two clean
# builds. SOURCE_DATE_EPOCH is the time in both, by default that of the last commit.
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
    # Python's environments are the same in both.
    mkdir "$copy/.build"
    ln -s "$root"/.build/{interop,wheels,dist} "$copy/.build/"
    echo "reproducible: building in a folder of ${#copy} characters"
    (cd "$copy" && umask "$2" && env TZ="$3" LANG="$4" make packages) >"$place/log" 2>&1 || {
        tail -n 20 "$place/log" >&2
        echo "reproducible: error: \`make packages\` fails" >&2
        exit 1
    }
    mv "$copy/dist" "$place/$5"
    # Two concurrent builds would need the space of both.
    rm -rf "$copy"
}
mkdir "$place/files"
build a 022 UTC C one
build another/folder/with/a/longer-name 027 Asia/Tokyo C.UTF-8 two

if ! diff -r "$place/one" "$place/two" >&2; then
    for deb in "$place"/one/*.deb; do
        name=${deb##*/}
        cmp -s "$deb" "$place/two/$name" && continue
        for side in one two; do
            rm -rf "$place/files/$side"
            dpkg-deb -R "$place/$side/$name" "$place/files/$side"
            (cd "$place/files/$side" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2) >"$place/$side.sums"
        done
        diff "$place/one.sums" "$place/two.sums" >&2 || true
    done
    echo 'reproducible: error: the two builds differ' >&2
    exit 1
fi
cat "$place/one/SHA256SUMS"
echo "reproducible: $(find "$place/one" -type f | wc -l) files, the same from two folders"
