#!/usr/bin/env bash
# Writes to `dist` what a release uploads, from the output of `make build send library`. README.md beside this file lists it.
# SOURCE_DATE_EPOCH is the time in all files; by default that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/../.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C.UTF-8 TZ=UTC
umask 022
version=$(Sources/Packaging/version.sh)
out=.build/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "$(cat .build/sodium-prefix 2>/dev/null)" ] || {
    echo 'dist: error: a release links the libsodium of the system, which its bill of materials names: run make packages without SODIUM' >&2
    exit 64
}
stray=$(git ls-files --others Sources KeyStore Tests/Data/Vectors)
[ -z "$stray" ] || { printf 'dist: error: a release would contain these files, which git does not have:\n%s\n' "$stray" >&2; exit 1; }
rm -rf dist "$out"
mkdir dist

# A compressed tar file of what is in a folder; the same bytes on each machine.
archive() {
    tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$work/archive" "$1" | gzip -9n >"dist/$1.tar.gz"
}

Sources/Packaging/package.sh tarball
if command -v dpkg-deb >/dev/null; then
    Sources/Packaging/package.sh deb
else
    echo 'SKIPPED: dist: Debian packages, because this system has no dpkg-deb'
fi
find "$out" -maxdepth 1 \( -name '*.tar.gz' -o -name '*.deb' \) -exec mv -t dist {} +

for language in python javascript java; do Sources/Packaging/languages.sh "$language" dist; done
name=pushcrypt-go-$version
Sources/Packaging/languages.sh go "$work/archive/$name"
archive "$name"

name=pushcrypt-test-kit-$version
git ls-files -z Tests/Data/Vectors | xargs -0 cp --parents -t "$work"
mv "$work/Tests/Data/Vectors" "$work/archive/$name"
cp LICENSE "$work/archive/$name/"
archive "$name"

chmod 644 dist/*
python3 -B Sources/Packaging/sbom.py dist "$version" >"$work/sbom"
mv "$work/sbom" "dist/pushcrypt-$version.cdx.json"
python3 -B Sources/Packaging/provenance.py dist >"$work/provenance"
mv "$work/provenance" "dist/pushcrypt-$version.provenance.json"
(cd dist && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
chmod 644 dist/*
cat dist/SHA256SUMS
