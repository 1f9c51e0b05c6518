#!/usr/bin/env bash
# Builds README.md's provider as a package that depends on this one by URL and version: the last commit, which a tag of a copy makes a
# version. It seals a push, which the command opens.
# Usage: by-url.sh PATH-OF-PUSHCRYPT
set -euo pipefail
command=$(realpath "${1:?the path of the pushcrypt command}")
cd "$(dirname "$0")/../../.."
version=$(Sources/Packaging/version.sh)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# The block after a mark of README.md.
block() { awk -v mark="$1" '$0 == mark { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' README.md; }

git clone -q --bare --no-local . "$place/pushcrypt.git"
git -C "$place/pushcrypt.git" tag -f "$version" HEAD >/dev/null
mkdir -p "$place/provider/Sources/provider"
block '<!-- example: provider -->' >"$place/provider/Sources/provider/main.swift"
block '<!-- file: Package.swift -->' |
    sed "s|\\.package(name: \"pushcrypt\", path: .*)\\]|.package(url: \"file://$place/pushcrypt.git\", from: \"$version\")]|" \
        >"$place/provider/Package.swift"
grep -q "from: \"$version\"" "$place/provider/Package.swift" || { echo 'by-url: error: README.md has no Package.swift' >&2; exit 1; }

cd "$place/provider"
swift build --quiet --cache-path "$place/cache" --config-path "$place/config" --security-path "$place/security"
grep -q "\"version\" : \"$version\"" Package.resolved || { echo "by-url: error: $(cat Package.resolved)" >&2; exit 1; }
"$command" key new provider -o provider.key >provider.pub
"$command" key new device -o phone.key >phone.pub
.build/debug/provider >push.json
"$command" open --device-key-file phone.key --provider "$(cat provider.pub)" --topic com.example.app --banner push.json | grep -q 'Table for two'
echo "by-url: version $version of a repository's URL seals in a package outside"
