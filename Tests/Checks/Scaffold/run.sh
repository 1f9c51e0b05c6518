#!/usr/bin/env bash
# Writes an app's notification side with `pushcrypt scaffold ios`, compiles it unchanged against the stand-ins, and runs the
# tests that are written with it: registration, pushes that open, tampered and forged ones, and responses to them.
# Usage: run.sh PATH-OF-PUSHCRYPT
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
command=$(realpath "${1:?the path of the pushcrypt command}")
work=$root/.build/scaffold
build=$root/.build/outside
rm -rf "$work"
mkdir -p "$work"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

scaffold() {
    local name=$1
    shift
    "$command" scaffold ios --bundle-id com.example.app --group group.com.example --output "$work/$name" "$@" \
        > /dev/null 2> "$fresh/messages" || { cat "$fresh/messages" >&2; exit 1; }
    "$command" lint --ios "$work/$name" --json > "$fresh/findings"
    [ ! -s "$fresh/findings" ] || { cat "$fresh/findings" >&2; exit 1; }
    find "$work/$name" \( -name '*.plist' -o -name '*.entitlements' -o -name '*.xcprivacy' -o -name project.pbxproj \) -exec plutil -lint -s {} +
    swift format lint --strict --configuration "$root/.swift-format" --recursive "$work/$name"
}

provider=$("$command" key new provider --output "$fresh/provider.key")
scaffold plain
scaffold full --communication --time-sensitive --content-extension --category MESSAGE --category 'A "quoted" \(name) & <more>' \
    --provider "$provider"

export SWIFT_BACKTRACE=enable=no
# One after another in one folder, that of Tests/Checks/Examples, so that the library is compiled once.
swift build --quiet --package-path "$work/plain/Linux" --scratch-path "$build"
swift test --quiet --package-path "$work/full/Linux" --scratch-path "$build" > "$fresh/log" 2>&1 ||
    { cat "$fresh/log" >&2; exit 1; }
passed=$(sed -nE 's/.*Test run with ([0-9]+) tests.* passed.*/\1/p' "$fresh/log")
[ "${passed:-0}" -gt 0 ] || { echo "no test of the scaffold ran" >&2; exit 1; }

# As an app that exists may compile, and as an Xcode project may, for iOS 15: Swift 5, and Swift 6 with and without everything on the main actor.
floor() {
    "$root/Tests/Checks/Lint/apple-floor.sh" app "$work/$1"/{App,NotificationService} "${@:2}" \
        "$work/$1/Tests"
}
floor plain
# What an app that exists adds: at most 20 lines of its own and 6 types of the library's.
adopted=("$root/Tests/Examples/ExistingApp"/{Push,NotificationService}.swift)
lines=$(cat "${adopted[@]}" | grep -vcE '^ *(//|$|import )')
types=$(grep -ohE '\b[A-Z][A-Za-z]+\b' "${adopted[@]}" "$root/Tests/Examples/ExistingApp/AppDelegate.swift" | sort -u |
    grep -cxE "$(sed -nE 's/^(public )?(final )?(open )?(actor|class|struct|enum|protocol) ([A-Za-z]+).*/\5/p' \
        "$root"/Tests/Data/API/Pushcrypt{,KeyStore,Receiver,Service}.txt | sort -u | paste -sd '|')")
# Two more lines are the calls.
[ $((lines + 2)) -le 20 ] && [ "$types" -gt 0 ] && [ "$types" -le 6 ] ||
    { echo "an app that exists needs $((lines + 2)) lines and $types types" >&2; exit 1; }
"$root/Tests/Checks/Lint/apple-floor.sh" app "$root/Tests/Examples/ExistingApp"
floor full "$work/full/NotificationContent"
# What PUSHCRYPT.md says to an app that has an extension: its example, beside the file that it names.
mkdir "$fresh/Own" && "$command" scaffold ios --bundle-id com.example.app --group group.com.example --communication \
    --into "$fresh/Own" --pass-clear-until 2096-06-30 > /dev/null 2>&1
{
    printf 'import PushcryptApp\nimport UserNotifications\n\nnonisolated final class OwnService: UNNotificationServiceExtension {\n'
    sed -n '/^```swift$/,/^```$/{/^```/!p}' "$fresh/Own/PUSHCRYPT.md"
    echo '}'
} > "$fresh/Own/NotificationService/OwnService.swift"
grep -q 'opener.handle' "$fresh/Own/NotificationService/OwnService.swift" || { echo 'PUSHCRYPT.md has no example' >&2; exit 1; }
"$root/Tests/Checks/Lint/apple-floor.sh" app "$fresh/Own/NotificationService"
echo "scaffold: compiled unchanged in three modes, $passed tests of its own passed"
