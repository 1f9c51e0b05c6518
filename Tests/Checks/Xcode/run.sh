#!/usr/bin/env bash
# Reads the project that `pushcrypt scaffold ios` writes with every reader there is for Linux, and checks its graph. Checks the
# workflow by its schema. Usage: run.sh PATH-OF-PUSHCRYPT
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
command=$(realpath "${1:?the path of the pushcrypt command}")
bin=$root/.build/xcode/bin
checks=$root/Tests/Checks/Xcode
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'xcode: error: %s\n' "$1" >&2
    exit 1
}

check() {
    local name=$1 project=$work/$1/Notifications.xcodeproj
    shift
    "$command" scaffold ios --bundle-id com.example.app --group group.com.example --output "$work/$name" "$@" >/dev/null 2>&1 ||
        fail "the scaffold $name fails"
    "$command" lint --ios "$work/$name" --json >"$work/findings"
    [ ! -s "$work/findings" ] || fail "lint: $(cat "$work/findings")"
    "$bin/python" "$checks/graph.py" "$project" || fail "the graph of $name is not whole"
    # The readers, which find faults of syntax; kin also unknown and missing members.
    plutil -lint -s "$project/project.pbxproj"
    [ "$("$bin/kin" "$project/project.pbxproj")" = CORRECT ] || fail "kin refuses $name"
}

check plain --communication
check full --content-extension --category MESSAGE --communication --time-sensitive --package https://example.com/pushcrypt
# The same command writes the same bytes.
"$command" scaffold ios --bundle-id com.example.app --group group.com.example --output "$work/again" --communication >/dev/null 2>&1
diff -r "$work/plain" "$work/again" || fail 'two runs differ'
# The workflow, by GitHub's schema; an altered copy is refused.
check_workflow() { "$bin/check-jsonschema" --builtin-schema vendor.github-workflows "$1" >"$work/said" 2>&1; }
check_workflow "$root/.github/workflows/ci.yml" || fail "the workflow: $(cat "$work/said")"
sed 's/runs-on:/run-on:/' "$root/.github/workflows/ci.yml" >"$work/altered.yml"
! check_workflow "$work/altered.yml" || fail 'an altered workflow is accepted'
"$root/Tests/Checks/Xcode/span-symbols.sh"
echo 'xcode: two projects read by plutil, kin, pbxproj and openstep_plist, and their graphs are whole; the workflow follows its schema'
