#!/usr/bin/env bash
# Checks that the modules of an extension need no symbol of the Span types, compiled for iOS 15 with and without optimisation.
#
# Below iOS 26 such a symbol makes the linker add libswiftCompatibilitySpan.dylib, which is searched along the rpath: an extension
# without the one of its app does not start, and leaves no journal. Makes the Swift library for iOS with its bodies once (a
# minute), for which `make lint` must have run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$PWD/.build/apple-span floor=$PWD/.build/apple-floor/ios triple=arm64-apple-ios15.0

fail() {
    printf 'span-symbols: error: %s\n' "$1" >&2
    exit 1
}

if [ "$(uname)" != Linux ]; then
    echo 'span-symbols: not checked on this system: use `otool -L` on the built extension'
    exit 0
fi
[ -e "$floor/key" ] || fail 'run `make lint` first'
resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
frontend=$resources/../../bin/swift-frontend
interface=$(basename "$(ls "$resources"/linux/Swift.swiftmodule/*-unknown-linux-gnu.swiftinterface | head -n 1)")

key=$(cksum Tests/Checks/Xcode/span-symbols.sh "$floor/key" "$resources/linux/Swift.swiftmodule/$interface")
if [ "$key" != "$(cat "$work/key" 2>/dev/null)" ]; then
    rm -rf "$work"
    mkdir -p "$work/-O" "$work/-Onone"
    for module in Swift SwiftOnoneSupport _Concurrency _StringProcessing; do
        # Bodies of calls that only Linux has are replaced; they are not the ones that are checked.
        sed -e "s/-target [^ ]*/-target $triple/" -e '/^ *@backDeployed(/d' -e '/^import Glibc$/d' \
            -e 's/_stdlib_remainderl(self, other)/other/' -e 's/_stdlib_squareRootl(self)/-self/' \
            "$resources/linux/$module.swiftmodule/$interface" >"$work/$module.swiftinterface"
        skip=
        [ $module = Swift ] || skip=-experimental-skip-all-function-bodies
        # shellcheck disable=SC2046,SC2086  # the flags are words
        "$frontend" -frontend -emit-module "$work/$module.swiftinterface" \
            $(sed -n 's,^// swift-module-flags: ,,p' "$work/$module.swiftinterface") $skip -suppress-warnings \
            -disable-availability-checking -resource-dir /nonexistent -I "$work" -module-cache-path "$work/cache" \
            -Xcc "-I$resources/shims" -o "$work/$module.swiftmodule" || fail "$module does not become a module for iOS"
    done
    cp "$floor"/{Darwin,CoreFoundation,Dispatch,Security,Foundation,UserNotifications,Intents}.swiftmodule "$work/"
    printf '%s\n' "$key" >"$work/key"
fi

# Prints the symbols of Span types that some sources need and none before them defines (our own functions that take a Span):
# the module, the optimisation, the folder or file.
symbols_of() {
    local module=$1 mode=$2 files common
    mapfile -t files < <(find "$3" -name '*.swift' | LC_ALL=C sort)
    common=(-frontend -module-name "$module" -target "$triple" "$mode" -parse-as-library -package-name pushcrypt -swift-version 6
        -suppress-warnings -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
        -enable-upcoming-feature MemberImportVisibility -disable-objc-interop -plugin-path "$resources/host/plugins"
        -resource-dir /nonexistent -I "$work/$mode" -I "$work" -I "$floor/include" -module-cache-path "$work/cache"
        -Xcc -DSODIUM_LIBRARY_MINIMAL -Xcc -ffreestanding -Xcc -resource-dir -Xcc "$resources/clang"
        -Xcc "-I$resources/shims" -Xcc -isystem -Xcc "$floor/include")
    "$frontend" "${common[@]}" -emit-module -o "$work/$mode/$module.swiftmodule" "${files[@]}" || fail "$3 does not compile"
    "$frontend" "${common[@]}" -c -wmo -o "$work/$mode/$module.o" "${files[@]}" || fail "$3 does not compile"
    "$nm" --undefined-only --just-symbol-name "$work/$mode/$module.o" >"$work/symbols" || fail "$nm does not read $module.o"
    # Without a match grep ends with 1.
    { grep -E '\$ss[0-9]+[A-Za-z0-9]*Span' "$work/symbols" | grep -vxF -f "$work/$mode/defined" || [ $? -eq 1 ]; } |
        LC_ALL=C sort -u | tr '\n' ' '
    "$nm" --defined-only --extern-only --just-symbol-name "$work/$mode/$module.o" >>"$work/$mode/defined"
}

nm=$resources/../../bin/llvm-nm
[ -x "$nm" ] || nm=$(command -v llvm-nm || true)
[ -n "$nm" ] || fail 'there is no llvm-nm, which reads Mach-O files: apt install llvm'
for mode in -O -Onone; do : >"$work/$mode/defined"; done
# The check's own test: what it looks for is found.
printf 'public func planted(_ span: inout MutableSpan<UInt8>) { span.withUnsafeMutableBytes { $0[0] = 1 } }\n' >"$work/Planted.swift"
planted=$(symbols_of Planted -Onone "$work/Planted.swift")
[ -n "$planted" ] || fail 'a use of MutableSpan that was planted was not noticed'
status=0
while read -r module folder; do
    for mode in -O -Onone; do
        found=$(symbols_of "$module" $mode "$folder")
        [ -z "$found" ] || { printf 'span-symbols: error: %s, compiled %s, needs %s\n' "$folder" $mode "$found" >&2; status=1; }
    done
done <<'END'
Pushcrypt Sources/Pushcrypt
PushcryptKeyStore KeyStore
PushcryptReceiver Sources/PushcryptReceiver
PushcryptService Sources/PushcryptService
PushcryptIntents Sources/PushcryptIntents
END
[ $status -eq 0 ] || fail 'an app would have to embed libswiftCompatibilitySpan.dylib: see Sources/Pushcrypt/Basics/MutableBytes.swift'
echo 'span-symbols: five modules need no symbol of Span types, with and without optimisation'
