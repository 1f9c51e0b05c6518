#!/usr/bin/env bash
# Checks that the sources compiled for Apple platforms use nothing newer than iOS 15, macOS 12 and
# visionOS 1; of the command, what needs no further C library, for macOS.
#
# On Linux the compiler ignores `platforms:` in the manifest, and no declaration is ever too new. So this script
# compiles the Swift library to modules for each platform once, from the interface files in every toolchain (3 seconds,
# kept in .build), and the real compiler typechecks the targets against them: those that need only the Swift library, and
# those that need Apple's frameworks, for which AppleFloor and Sources/AppleStandIns stand in, with the availability that
# Apple documents. C declarations come from libsodium's and SQLite's own headers and, for Darwin, from AppleFloor. A
# second pass searches the text for what no compiler sees: branches for other systems, and SQL and SQLite calls that the
# phone's SQLite lacks.
#
# Usage: apple-floor.sh
#        apple-floor.sh app FOLDER…
# The second form compiles each folder as a module of an app for iOS 15, Swift 5 and 6, with and without the main actor as
# the default isolation, as far as data races are found.
#
# On a Mac the compiler knows what is too new, and only the second pass runs.
set -euo pipefail
cd "$(dirname "$0")/../../.."

floor=15.0
# NAME TRIPLE
platforms='
ios arm64-apple-ios15.0
catalyst arm64-apple-ios15.0-macabi
macos arm64-apple-macosx12.0
visionos arm64-apple-xros1.0
'
parts=Tests/Checks/Lint/AppleFloor
standins=Sources/AppleStandIns
root=.build/apple-floor

fail() {
    printf 'apple-floor: error: %s\n' "$1" >&2
    exit 1
}

# Without the module and the templates that are in a folder of another module.
sources_in() { find "$@" -mindepth 1 \( -name Kit -o -name Templates \) -prune -o -name '*.swift' -print | LC_ALL=C sort; }

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
\bFileHandle\b = a FileHandle leaves an object for each piece in the autorelease pool: use PlainFile
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

# Changes with the toolchain and with this script.
key_of_tools() {
    pwd && cksum Tests/Checks/Lint/apple-floor.sh "$parts"/* Sources/C/C{Process,SQLite}/shim.h Sources/C/CXWing/include/*.h "${interfaces[@]}"
}

# Changes with the sources that the modules are made of.
key_of_sources() { find Sources KeyStore -name '*.swift' | LC_ALL=C sort | xargs cksum | cksum; }

# Builds, in .build, everything that does not depend on the project's sources, unless it exists for this toolchain and
# this script.
prepare() {
    local key sodium sqlite
    key=$(key_of_tools)
    [ "$key" = "$(cat "$work/key" 2>/dev/null)" ] && return
    echo "apple-floor: making the Swift library for $platform (once, a few seconds)"
    rm -rf "$work"
    mkdir -p "$work/include/sys" "$work/sdk"
    # What is available in an iOS is, in visionOS, from the version that has that iOS.
    cat >"$work/sdk/SDKSettings.json" <<'END'
{"Version": "26.0", "MaximumDeploymentTarget": "26.0.99", "VersionMap": {"iOS_visionOS": {"13.0": "1.0", "14.0": "1.0", "15.0": "1.0", "16.0": "1.0", "17.0": "1.0", "18.0": "2.0", "26.0": "26.0"}}}
END
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
module CProcess { header "$PWD/Sources/C/CProcess/shim.h" export * }
module CSQLite [system] { header "$PWD/Sources/C/CSQLite/shim.h" export * }
module CXWing { header "$PWD/Sources/C/CXWing/include/xwing.h" export * }
module DarwinDeclarations [system] { header "$PWD/$parts/DarwinDeclarations.h" export * }
END
    for module in Darwin MachO CoreFoundation Dispatch Security Foundation; do
        compile "$module" -emit-module -experimental-skip-all-function-bodies -suppress-warnings -swift-version 5 \
            -o "$work/$module.swiftmodule" "$parts/$module.swift"
    done
    printf '%s\n' "$key" >"$work/key"
}

# Runs the compiler for the floor with the manifest's settings: the module's name, then the mode and the files.
compile() {
    local module=$1
    shift
    compile_freely "$module" -swift-version 6 -strict-memory-safety -warnings-as-errors \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -package-name pushcrypt "$@"
}

# The same without the manifest's settings, as an app may be compiled.
compile_freely() {
    local module=$1
    shift
    "$frontend" -frontend -module-name "$module" -target "$triple" -sdk "$work/sdk" -O -parse-as-library -plugin-path "$resources/host/plugins" \
        -disable-objc-interop -resource-dir /nonexistent -I "$work" -I "$work/include" -module-cache-path "$work/cache" \
        -Xcc -DSODIUM_LIBRARY_MINIMAL -Xcc -ffreestanding -Xcc -resource-dir -Xcc "$resources/clang" -Xcc "-I$resources/shims" -Xcc -isystem -Xcc "$work/include" \
        "$@"
}

# Typechecks a target's folder and builds its module for the targets after it; then further options.
check_target() {
    local module=$1 folder=$2 files
    shift 2
    mapfile -t files < <(sources_in "$folder")
    compile "$module" "$@" -typecheck "${files[@]}" ||
        fail "$folder does not compile for $triple (a declaration of Apple's that is only missing here goes into $parts or $standins)"
    compile "$module" "$@" -emit-module -experimental-skip-all-function-bodies -o "$work/$module.swiftmodule" "${files[@]}"
}

# Builds the module of a stand-in, whose own code need not run on the floor.
make_stand_in() {
    local files
    mapfile -t files < <(sources_in "$standins/$1")
    compile "$1" -suppress-warnings -emit-module -experimental-skip-all-function-bodies -o "$work/$1.swiftmodule" \
        "${files[@]}" || fail "the stand-in $1 does not compile for $triple"
}

# Typechecks the command: all but `send`, and what SwiftPM makes of the templates and the codes.
check_command() {
    {
        echo 'struct PackageResources {'
        find Sources/PushcryptDeveloperTools/Templates Docs/Codes.md -type f -printf '    static let %f: [UInt8] = []\n' | sed 's/\./_/'
        echo '}'
    } >"$work/PackageResources.swift"
    check_target PushcryptCommandKit Sources/PushcryptCommand/Kit
    check_target PushcryptDeveloperTools Sources/PushcryptDeveloperTools "$work/PackageResources.swift"
    check_target PushcryptCommand Sources/PushcryptCommand "$work/PackageResources.swift"
}

# Checks everything for one platform.
check_platform() {
    platform=$1 triple=$2 work=$root/$1
    prepare
    rm -f "$work/sources" "$work/Intents.swiftmodule"
    [ "$platform" != ios ] || check_the_check "$parts/Refused.swift" both
    check_target Pushcrypt Sources/Pushcrypt
    check_target PushcryptKeyStore KeyStore
    check_target PushcryptReceiver Sources/PushcryptReceiver
    make_stand_in UserNotifications
    make_stand_in os
    if [ "$platform" != macos ]; then
        make_stand_in UIKit
        make_stand_in UserNotificationsUI
    fi
    if [ "$platform" = ios ]; then
        make_stand_in CallKit
        make_stand_in PushKit
        for module in SwiftUI XCTest; do
            compile "$module" -emit-module -experimental-skip-all-function-bodies -suppress-warnings -swift-version 5 \
                -o "$work/$module.swiftmodule" "$parts/$module.swift"
        done
        check_the_check "$parts/RefusedFrameworks.swift" compiler
    fi
    check_target PushcryptService Sources/PushcryptService -application-extension
    check_target PushcryptApp Sources/PushcryptApp -application-extension
    # Last, so that nothing else needs it.
    make_stand_in Intents
    check_target PushcryptIntents Sources/PushcryptIntents -application-extension
    check_target DeviceSimulator Sources/DeviceSimulator
    [ "$platform" != macos ] || check_command
    key_of_sources >"$work/sources"
}

# --- The check's own test -------------------------------------------------------------------------------------------------------

# Compares the lines of a file that each pass refuses with the marked ones.
check_the_check() {
    local probe=$1 said
    said=$(compile Refused -typecheck "$probe" 2>&1 || true)
    if grep -E "^($probe:[0-9:]+|<unknown>:0): error: " <<<"$said" | grep -v 'is only available in'; then
        fail "$probe is refused for another reason than its availability"
    fi
    compare "$probe" compiler "$(grep -E "^$probe:[0-9:]+ error: " <<<"$said")"
    [ "$2" = compiler ] || compare "$probe" text "$(check_text "$probe")"
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

# Waits for other checks that use the modules of a platform; held until this shell ends.
lock() {
    mkdir -p "$root"
    exec 9>"$root/$1.lock"
    flock 9
}

# Compiles one module of an app in each mode.
check_app() {
    local name files mode
    name=$(basename "$1")
    mapfile -t files < <(sources_in "$1")
    for mode in '-swift-version 5' '-swift-version 6' '-swift-version 6 -default-isolation MainActor
        -enable-upcoming-feature NonisolatedNonsendingByDefault -enable-upcoming-feature InferIsolatedConformances
        -enable-upcoming-feature MemberImportVisibility'; do
        # shellcheck disable=SC2086  # the flags are words
        compile_freely "$name" $mode -I "$work/app" -warnings-as-errors -emit-sil -o /dev/null "${files[@]}" ||
            fail "$1 does not compile for iOS $floor (${mode//$'\n'/})"
    done
    # For the tests of it.
    compile_freely "$name" -I "$work/app" -swift-version 6 -default-isolation MainActor -enable-testing -suppress-warnings -emit-module \
        -experimental-skip-all-function-bodies -o "$work/app/$name.swiftmodule" "${files[@]}"
}

if [ "${1:-}" = app ]; then
    shift
    [ "$(uname)" = Linux ] || exit 0
    find_toolchain
    work=$root/ios triple=arm64-apple-ios$floor
    lock ios
    if [ "$(key_of_tools)" != "$(cat "$work/key" 2>/dev/null)" ] || [ "$(key_of_sources)" != "$(cat "$work/sources" 2>/dev/null)" ]; then
        check_platform ios "$triple"
    fi
    # Not beside the modules of the first form, whose names an app may use too.
    mkdir -p "$work/app"
    printf 'class A {}\nfunc f(_ a: A) async {}\n@MainActor class B {\n let a = A()\n func g() async { await f(a) }\n}\n' >"$work/app/race.swift"
    said=$(compile_freely Race -swift-version 6 -emit-sil -o /dev/null "$work/app/race.swift" 2>&1 || true)
    [[ $said = *'risks causing data races'* ]] || fail 'a data race was not noticed'
    for folder in "$@"; do check_app "$folder"; done
    echo "apple-floor: $# modules of an app need nothing newer than iOS $floor"
    exit 0
fi
folders=(Sources/Pushcrypt KeyStore Sources/PushcryptReceiver)
service=(Sources/PushcryptService Sources/PushcryptIntents Sources/DeviceSimulator)
check_text "${folders[@]}" >&2 || fail "newer than iOS $floor: see above"
if [ "$(uname)" = Linux ]; then
    find_toolchain
    jobs=()
    while read -r name triple; do
        [ -n "$name" ] || continue
        (lock "$name" && check_platform "$name" "$triple") &
        jobs+=($!)
    done <<<"$platforms"
    status=0
    for job in "${jobs[@]}"; do wait "$job" || status=1; done
    [ $status -eq 0 ] || exit 1
fi
echo "apple-floor: $(sources_in "${folders[@]}" "${service[@]}" | wc -l) files need nothing newer than iOS $floor, macOS 12 and visionOS 1"
