#!/usr/bin/env bash
# Checks that the sources shared with Apple platforms use nothing newer than iOS 15 (macOS 12 has the same Swift library).
#
# On Linux the compiler ignores `platforms:` in the manifest, and no declaration is ever too new. So this script
# compiles the Swift library to modules for iOS once, from the interface files in every toolchain (3 seconds, kept in
# .build), and the real compiler typechecks the shared targets for an iPhone against them. C declarations come from
# libsodium's and SQLite's own headers and, for Darwin, from AppleFloor. A second pass searches the text for what no
# compiler sees: branches for other systems, and SQL and SQLite calls that the phone's SQLite lacks.
#
# On a Mac the compiler knows what is too new, and only the second pass runs.
set -euo pipefail
cd "$(dirname "$0")/../../.."

floor=15.0
triple=arm64-apple-ios$floor
parts=Tests/Checks/Scripts/AppleFloor
work=.build/apple-floor

fail() {
    printf 'apple-floor: error: %s\n' "$1" >&2
    exit 1
}

sources_in() { find "$@" -name '*.swift' | LC_ALL=C sort; }

# --- The text -------------------------------------------------------------------------------------------------------------------

# An extended regular expression, then the reason to refuse it. iOS 15.0 has SQLite 3.36.
too_new='
import (Synchronization)\b = the Synchronization module needs iOS 18
import (Foundation|FoundationEssentials)\b = the shared sources do not use Foundation
\b(Mutex|Atomic)[<(] = Mutex and Atomic need iOS 18
\b(InlineArray|UTF8Span)\b = InlineArray and UTF8Span need iOS 26
\.utf8\.span\b = the span of a String.UTF8View needs iOS 26
\bSTRICT\b = STRICT tables need SQLite 3.37 (iOS 15.4)
\bunixepoch\(|->>|\b(RIGHT|FULL) (OUTER )?JOIN\b|\bIS (NOT )?DISTINCT FROM\b = this SQL needs SQLite 3.38 or 3.39 (iOS 16)
\bsqlite3_(changes64|total_changes64|autovacuum_pages)\b = this call needs SQLite 3.37 (iOS 15.4)
\bsqlite3_(error_offset|db_name|value_encoding|is_interrupted)\b = this call needs SQLite 3.38 or later (iOS 16)
'

# Prints a line for each refused text outside comment lines, below the folders or in the files given; fails if there is one.
check_text() {
    local line pattern reason found=0
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        pattern=${line% = *}
        reason=${line##* = }
        { grep -rnHE --include='*.swift' -e "$pattern" -- "$@" || true; } | grep -vE '^[^:]+:[0-9]+: *//' |
            sed -E "s|^([^:]+:[0-9]+):|\1: error: $reason:|" && found=1
    done <<<"$too_new"
    return $found
}

# --- The compiler ---------------------------------------------------------------------------------------------------------------

# Finds the toolchain behind the `swift` in the path, which may be a version manager's proxy.
find_toolchain() {
    resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    frontend=$resources/../../bin/swift-frontend
    [ -x "$frontend" ] || fail "no swift-frontend beside $resources: use a toolchain from swift.org"
    interfaces=("$resources"/linux/Swift.swiftmodule/*-unknown-linux-gnu.swiftinterface)
    interface=${interfaces[0]##*/}
    [ -f "${interfaces[0]}" ] || fail "no interface of the Swift library in $resources/linux: use a toolchain from swift.org"
}

# Builds one module of the Swift library for iOS. Skips bodies (a tenth of the time, and some call Linux functions) and
# removes the attribute @backDeployed, which requires a body and does not affect availability. The library itself is not
# checked.
make_library_module() {
    local module=$1 flags
    sed -e "s/-target [^ ]*/-target $triple/" -e '/^ *@backDeployed(/d' -e '/^import Glibc$/d' \
        "$resources/linux/$module.swiftmodule/$interface" >"$work/$module.swiftinterface"
    flags=$(sed -n 's,^// swift-module-flags: ,,p' "$work/$module.swiftinterface")
    # shellcheck disable=SC2086  # the flags are words
    "$frontend" -frontend -emit-module "$work/$module.swiftinterface" $flags -suppress-warnings -disable-availability-checking \
        -experimental-skip-all-function-bodies -resource-dir /nonexistent -I "$work" -module-cache-path "$work/cache" \
        -Xcc "-I$resources/shims" -o "$work/$module.swiftmodule" ||
        fail "$resources/linux/$module.swiftmodule/$interface does not become a module for iOS: is this toolchain newer than this script?"
}

# Builds, in .build, everything that does not depend on the project's sources, unless it exists for this toolchain and
# this script.
prepare() {
    local key sodium sqlite
    key=$(pwd && cksum Tests/Checks/Scripts/apple-floor.sh "$parts"/Darwin* Sources/CSQLite/shim.h Sources/CStore/include/store.h "${interfaces[@]}")
    [ "$key" = "$(cat "$work/key" 2>/dev/null)" ] && return
    echo 'apple-floor: making the Swift library for iOS (once, a few seconds)'
    rm -rf "$work"
    mkdir -p "$work/include/sys"
    for module in Swift _Concurrency _StringProcessing Synchronization; do make_library_module $module; done

    # Uses libsodium's headers (of its minimal build, as in swift-sodium) and SQLite's. Empty files replace the system's
    # headers, which are for Linux.
    touch "$work"/include/{stdio,stdlib,string}.h
    echo '#include <stddef.h>' >"$work/include/sys/types.h"
    sodium=$(pkg-config --variable=includedir libsodium 2>/dev/null || echo /usr/include)
    sqlite=$(pkg-config --variable=includedir sqlite3 2>/dev/null || echo /usr/include)
    ln -s "$sodium/sodium.h" "$sodium/sodium" "$sqlite/sqlite3.h" "$work/include/"
    cat >"$work/include/module.modulemap" <<END
module Clibsodium [system] { header "sodium.h" export * }
module CSQLite [system] { header "$PWD/Sources/CSQLite/shim.h" export * }
module CStore { header "$PWD/Sources/CStore/include/store.h" export * }
module DarwinDeclarations [system] { header "$PWD/$parts/DarwinDeclarations.h" export * }
END
    compile Darwin -emit-module -experimental-skip-all-function-bodies -o "$work/Darwin.swiftmodule" "$parts/Darwin.swift"
    printf '%s\n' "$key" >"$work/key"
}

# Runs the compiler for the floor with the manifest's settings: the module's name, then the mode and the files.
compile() {
    local module=$1
    shift
    "$frontend" -frontend -module-name "$module" -target "$triple" -O -parse-as-library -package-name pushcrypt -swift-version 6 \
        -strict-memory-safety -warnings-as-errors -enable-upcoming-feature ExistentialAny \
        -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility \
        -disable-objc-interop -resource-dir /nonexistent -I "$work" -I "$work/include" -module-cache-path "$work/cache" \
        -Xcc -DSODIUM_LIBRARY_MINIMAL -Xcc -ffreestanding -Xcc -resource-dir -Xcc "$resources/clang" -Xcc "-I$resources/shims" -Xcc -isystem -Xcc "$work/include" \
        "$@"
}

# Typechecks a target's folder and builds its module for the targets after it.
check_target() {
    local module=$1 files
    mapfile -t files < <(sources_in "$2")
    compile "$module" -typecheck "${files[@]}" ||
        fail "$2 does not compile for iOS $floor (a function or constant of Darwin that is only missing here goes into $parts)"
    compile "$module" -emit-module -experimental-skip-all-function-bodies -o "$work/$module.swiftmodule" "${files[@]}"
}

# --- The check's own test -------------------------------------------------------------------------------------------------------

# Compares the lines of Refused.swift that each pass refuses with the marked ones.
check_the_check() {
    local probe=$parts/Refused.swift said
    said=$(compile Refused -typecheck "$probe" 2>&1 || true)
    if grep -E "^($probe:[0-9:]+|<unknown>:0): error: " <<<"$said" | grep -v 'is only available in'; then
        fail "$probe is refused for another reason than its availability"
    fi
    compare "$probe" compiler "$(grep -E "^$probe:[0-9:]+ error: " <<<"$said")"
    compare "$probe" text "$(check_text "$probe")"
}

# Fails unless the lines that a pass refused are those marked with its name.
compare() {
    local wanted found
    wanted=$(grep -nE "// refused: .*$2" "$1" | cut -d: -f1)
    found=$(cut -d: -f2 <<<"$3" | sort -nu)
    if [ -z "$wanted" ] || [ "$wanted" != "$found" ]; then
        fail "in $1 the pass \`$2\` must refuse lines ${wanted//$'\n'/ } and refuses ${found//$'\n'/ }"
    fi
}

# --------------------------------------------------------------------------------------------------------------------------------

folders=(Sources/Pushcrypt Sources/PushcryptBatch KeyStore Sources/PushcryptReceiver)
check_text "${folders[@]}" >&2 || fail "newer than iOS $floor: see above"
if [ "$(uname)" = Linux ]; then
    find_toolchain
    prepare
    check_the_check
    check_target Pushcrypt Sources/Pushcrypt
    check_target PushcryptBatch Sources/PushcryptBatch
    check_target PushcryptKeyStore KeyStore
    check_target PushcryptReceiver Sources/PushcryptReceiver
fi
echo "apple-floor: $(sources_in "${folders[@]}" | wc -l) files need nothing newer than iOS $floor"
