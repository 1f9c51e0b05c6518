#!/usr/bin/env bash
# Builds Libsodium.xcframework beside Package.swift, static, for all Apple platforms, from a release of libsodium. With
# PUSHCRYPT_OWN_LIBSODIUM=1 in the environment the manifest takes it instead of swift-sodium. Its headers and module map lie in a folder of their own, so that it does not collide with
# other packages that bring an xcframework. For a Mac with Xcode. Not run so far.
#
# Usage: libsodium-xcframework.sh libsodium-1.0.20.tar.gz
# Get the release and its signature from https://download.libsodium.org/libsodium/releases/, and check it:
#   minisign -Vm libsodium-1.0.20.tar.gz -P RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64; }
[ "$(uname)" = Darwin ] || { echo 'libsodium-xcframework: error: this needs a Mac with Xcode' >&2; exit 1; }
release=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tar -xzf "$release" -C "$work" --strip-components 1
(cd "$work" && LIBSODIUM_FULL_BUILD='' ./dist-build/apple-xcframework.sh)
built=$(find "$work" -name '*.xcframework' -maxdepth 2 | head -n 1)
[ -n "$built" ] || { echo 'libsodium-xcframework: error: the release built no xcframework' >&2; exit 1; }
# Xcode copies all headers of all packages into one folder.
for headers in "$built"/*/Headers; do
    [ -d "$headers" ] || { echo 'libsodium-xcframework: error: the release has frameworks, not static libraries' >&2; exit 1; }
    # Newer releases have them there.
    if [ ! -d "$headers/Clibsodium" ]; then
        mkdir "$headers.new"
        mv "$headers" "$headers.new/Clibsodium"
        mv "$headers.new" "$headers"
    fi
    # The module keeps its name, for `import Clibsodium`.
    grep -q 'module Clibsodium' "$headers/Clibsodium/module.modulemap" ||
        printf 'module Clibsodium {\n    umbrella header "sodium.h"\n    export *\n}\n' >"$headers/Clibsodium/module.modulemap"
done
rm -rf "$root/Libsodium.xcframework"
mv "$built" "$root/Libsodium.xcframework"
echo "libsodium-xcframework: $root/Libsodium.xcframework; build with PUSHCRYPT_OWN_LIBSODIUM=1"
