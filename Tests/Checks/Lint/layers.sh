#!/usr/bin/env bash
# Checks that each folder of a module uses only the folders listed before it.
#
# For every folder, the compiler typechecks its files together with those of the folders before it, and nothing else. What is
# missing then is in a later folder. The files beside the folders are the last layer. A module that the checked one imports is
# built first, without function bodies. Takes a few seconds; on a Mac, which has another libsodium, nothing is checked.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# MODULE FOLDER [MODULE IT IMPORTS …]: FOLDERS, LOWEST FIRST
layers='
Pushcrypt Sources/Pushcrypt: Basics Sodium JSON Keys Trust Records Signing HPKE Envelope Payload Answers Attachments Sealing Relay Pairing
PushcryptCommandKit Sources/PushcryptCommand/Kit: Basics System Console Frame
PushcryptDeveloperTools Sources/PushcryptDeveloperTools Pushcrypt PushcryptCommandKit: PayloadLint Scaffold ProjectLint
PushcryptCommand Sources/PushcryptCommand Pushcrypt PushcryptKeyStore PushcryptReceiver PushcryptCommandKit PushcryptDeveloperTools: Support Store Batch Devices Seal Open Preview Explanations Commands
PushcryptSend Sources/PushcryptSend Pushcrypt PushcryptKeyStore PushcryptReceiver PushcryptCommandKit PushcryptDeveloperTools PushcryptCommand: Delivery Login Lines Transport Routes
'

# The modules that a checked module may import, each after those it imports itself.
imported='
Pushcrypt Sources/Pushcrypt
PushcryptKeyStore KeyStore
PushcryptReceiver Sources/PushcryptReceiver
PushcryptCommandKit Sources/PushcryptCommand/Kit
PushcryptDeveloperTools Sources/PushcryptDeveloperTools
PushcryptCommand Sources/PushcryptCommand
'

work=.build/layers
mkdir -p "$work/modules"

{
    echo 'struct PackageResources {'
    find Sources/PushcryptDeveloperTools/Templates Docs/Codes.md -type f -printf '    static let %f: [UInt8] = []\n' | sed 's/\./_/'
    echo '}'
} >"$work/PackageResources.swift"

fail() {
    printf 'layers: error: %s\n' "$1" >&2
    exit 1
}

# Prints the sources of a folder, null-terminated, without the module and the templates that are in a folder of this one; with the
# source that SwiftPM makes of the templates and the codes.
sources() {
    find "$1" -path "$1/Kit" -prune -o -path "$1/Templates" -prune -o -name '*.swift' -print0 | LC_ALL=C sort -z
    case ${1##*/} in
    PushcryptCommand | Explanations | PushcryptDeveloperTools | Scaffold) printf '%s\0' "$PWD/$work/PackageResources.swift" ;;
    esac
}

# Runs the compiler with the manifest's settings: the module's name, then the mode and the files.
compile() {
    local module=$1
    shift
    "$frontend" -frontend -module-name "$module" -parse-as-library -package-name pushcrypt -swift-version 6 \
        -strict-memory-safety -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -diagnostic-style llvm -I "$work/modules" "${includes[@]}" \
        -module-cache-path "$work/cache" "$@"
}

# Builds the modules that are imported, each once.
build_imports() {
    local module folder files
    while read -r module folder; do
        [ -n "$module" ] && [[ " $1 " = *" $module "* ]] || continue
        mapfile -d '' files < <(sources "$folder")
        compile "$module" -emit-module -experimental-skip-all-function-bodies -suppress-warnings \
            -o "$work/modules/$module.swiftmodule" "${files[@]}" || fail "$module does not compile"
    done <<<"$imported"
}

# Typechecks one folder with those before it: the module, its folder, how many folders come before, and all folders.
check_layer() {
    local module=$1 root=$2 count=$3 folder file said
    shift 3
    local all=("$@") arguments=() primary=()
    for folder in "${all[@]:0:count}"; do
        mapfile -d '' -O ${#arguments[@]} arguments < <(sources "$root/$folder")
    done
    if [ "$count" -lt ${#all[@]} ]; then
        folder=${all[count]}
        mapfile -d '' primary < <(sources "$root/$folder")
    else
        folder=$(basename "$root")
        mapfile -d '' primary < <(find "$root" -maxdepth 1 -name '*.swift' -print0 | LC_ALL=C sort -z)
    fi
    for file in "${primary[@]}"; do arguments+=(-primary-file "$file"); done
    [ ${#primary[@]} -gt 0 ] || return 0
    said=$(compile "$module" -typecheck "${arguments[@]}" 2>&1) && return 0
    # An error names what is in a later folder.
    printf '%s\nlayers: error: %s: %s does not compile without later folders\n' "$(grep ' error: ' <<<"$said" || echo "$said")" "$root" "$folder"
    return 1
}

# Fails for a folder that is not listed, or a listed one that is not there.
check_list() {
    local root=$1 folder path
    shift
    for folder in "$@"; do
        [ -d "$root/$folder" ] || fail "$root/$folder is listed in this script and does not exist"
    done
    for path in "$root"/*/; do
        folder=$(basename "$path")
        [ "$folder" != Templates ] || continue
        ! grep -q " ${path%/}:" <<<"$layers" || continue
        [[ " $* " = *" $folder "* ]] || [ -z "$(find "$path" -name '*.swift' -print -quit)" ] ||
            fail "$root/$folder is not listed in this script: add it after the folders that it uses"
    done
}

# Runs the checks of one module, as many at a time as there are processors.
check_module() {
    local module=$1 root=$2 count running=0 status=0
    shift 2
    check_list "$root" "$@"
    for ((count = 0; count <= $#; count++)); do
        if [ $running -ge "$processors" ]; then
            wait -n || status=1
            running=$((running - 1))
        fi
        check_layer "$module" "$root" $count "$@" &
        running=$((running + 1))
    done
    while [ $running -gt 0 ]; do
        wait -n || status=1
        running=$((running - 1))
    done
    return $status
}

# The check's own test: in a copy, the first folder uses a type of the last one, and there is a folder that is not listed. Both must
# be noticed.
check_the_check() {
    local module=$1 root=$2 copy last name said
    shift 2
    [ $# -gt 1 ] || return 0
    copy=$(mktemp -d)
    cp -R "$root/." "$copy"
    rm -rf "$copy/Kit"
    last=${!#}
    name=$(grep -rhoE --include='*.swift' '^((public|package|final) )*(struct|class|enum) \w+' "$copy/$last" | head -n 1)
    name=${name##* }
    printf 'func planted(_: %s) {}\n' "$name" >"$copy/$1/Planted.swift"
    said=$(check_layer "$module" "$copy" 0 "$@" 2>&1) && said=''
    mkdir "$copy/Unlisted"
    touch "$copy/Unlisted/Planted.swift"
    said+=$(check_list "$copy" "$@" 2>&1) || true
    rm -rf "$copy"
    [[ $said = *"$1/Planted.swift:1:17: error: cannot find type '$name'"* ]] ||
        fail "a use of $name planted in $root/$1 was not noticed: $said"
    [[ $said = *"/Unlisted is not listed"* ]] || fail "a folder planted in $root was not noticed: $said"
}

if [ "$(uname)" != Linux ]; then
    echo 'layers: not checked on this system'
    exit 0
fi
processors=$(nproc)
frontend=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/../../bin/swift-frontend
[ -x "$frontend" ] || fail "no swift-frontend at $frontend: use a toolchain from swift.org"
read -ra includes <<<"$(pkg-config --cflags-only-I libsodium sqlite3 libcurl libnghttp2 openssl)"
for map in Sources/C/*/module.modulemap; do includes+=(-I "$(dirname "$map")"); done
# SwiftPM makes the map of a C target itself.
mkdir -p "$work/CXWing"
echo "module CXWing { header \"$PWD/Sources/C/CXWing/include/xwing.h\" export * }" >"$work/CXWing/module.modulemap"
includes+=(-I "$work/CXWing")

build_imports "$(sed -n 's/:.*//p' <<<"$layers" | cut -d ' ' -f 3- | tr '\n' ' ')"
status=0 count=0
while IFS=: read -r head folders; do
    [ -n "$head" ] || continue
    read -r module root _ <<<"$head"
    read -ra folders <<<"$folders"
    check_module "$module" "$root" "${folders[@]}" >&2 || status=1
    check_the_check "$module" "$root" "${folders[@]}"
    count=$((count + ${#folders[@]}))
done <<<"$layers"
[ $status -eq 0 ] || fail 'move the declaration down, or the use up'
echo "layers: $count folders use only those before them"
