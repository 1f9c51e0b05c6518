#!/usr/bin/env bash
# What can only be run on a Mac: builds, archives and tests the scaffold's project, installs it in a simulator, and writes a
# report. See README.md. Not run so far.
#
# Usage: run.sh REPORT-FOLDER
#   SCAFFOLD         a scaffold that `pushcrypt` has written on another machine, at the same place in a checkout; otherwise this writes
#                    one
#   PUSHCRYPT        a built command; otherwise `swift build -c release` makes one
#   SIMULATOR        the name of a simulator, default "iPhone 17"
#   DEVELOPMENT_TEAM a team, for the archive; without one it is not signed
set -uo pipefail
cd "$(dirname "$0")/../../.."

steps=(tools resolve build-package scaffold lint build-simulator build-device archive libraries tests install)
[ $# -eq 1 ] || { echo 'usage: run.sh REPORT-FOLDER' >&2; exit 64; }
[ "$(uname)" = Darwin ] || { echo 'apple-run: error: this needs a Mac with Xcode 26 or later' >&2; exit 1; }

mkdir -p "$1"
report=$(cd "$1" && pwd)
simulator=${SIMULATOR:-iPhone 17}
app=${SCAFFOLD:-$report/App}
project=$app/Notifications.xcodeproj
products=$report/build
failed=0
: >"$report/report.txt"

# Runs one step, with its output in a file, and adds a line to the report. The others run all the same.
step() {
    local name=$1 started=$SECONDS outcome=passed
    "step_${name//-/_}" >"$report/$name.log" 2>&1 || { outcome=FAILED; failed=1; }
    printf '%-16s %s %s s\n' "$name" "$outcome" $((SECONDS - started)) | tee -a "$report/report.txt"
}

xcode() { xcodebuild -project "$project" -scheme App -derivedDataPath "$products" "$@"; }

step_tools() { sw_vers && xcodebuild -version && swift --version && xcrun simctl list devices available; }
step_resolve() { swift package resolve && swift package show-dependencies; }
step_build_package() { [ -n "${PUSHCRYPT:-}" ] || swift build -c release --product pushcrypt; }
command_path() { printf '%s' "${PUSHCRYPT:-$PWD/.build/release/pushcrypt}"; }
step_scaffold() {
    [ -z "${SCAFFOLD:-}" ] || return 0
    rm -rf "$app"
    "$(command_path)" scaffold ios --bundle-id com.example.app --group group.com.example --content-extension \
        --category MESSAGE --package "$PWD" --output "$app"
}
# A scaffold of another machine was checked there.
step_lint() {
    plutil -lint "$project/project.pbxproj" || return 1
    [ -n "${SCAFFOLD:-}" ] || "$(command_path)" lint --ios "$app"
}
step_build_simulator() { xcode -destination "platform=iOS Simulator,name=$simulator" build; }
step_build_device() { xcode -destination 'generic/platform=iOS' CODE_SIGNING_ALLOWED=NO build; }
# An extension must find every library: on the system, or in the app. Of the archive, because a debug build has its code in a library
# of its own.
step_libraries() {
    local app=$report/App.xcarchive/Products/Applications/App.app appex binary library links missing=0
    for appex in NotificationService NotificationContent; do
        binary=$app/PlugIns/$appex.appex/$appex
        [ -f "$binary" ] || { echo "no $binary"; return 1; }
        links=$(otool -L "$binary") || return 1
        echo "$links"
        while read -r library _; do
            case $library in
            @rpath/*) [ -e "$app/Frameworks/$(basename "$library")" ] || { echo "missing: $library"; missing=1; } ;;
            esac
        done <<<"$links"
    done
    return $missing
}
step_archive() {
    local signing=(CODE_SIGNING_ALLOWED=NO)
    [ -z "${DEVELOPMENT_TEAM:-}" ] || signing=(DEVELOPMENT_TEAM="$DEVELOPMENT_TEAM" -allowProvisioningUpdates)
    xcode -destination 'generic/platform=iOS' -archivePath "$report/App.xcarchive" "${signing[@]}" archive
}
step_tests() {
    rm -rf "$report/tests.xcresult"
    xcode -destination "platform=iOS Simulator,name=$simulator" -resultBundlePath "$report/tests.xcresult" test
}
step_install() {
    xcrun simctl boot "$simulator" 2>/dev/null
    xcrun simctl bootstatus "$simulator" -b
    xcrun simctl install "$simulator" "$products/Build/Products/Debug-iphonesimulator/App.app" &&
        xcrun simctl launch "$simulator" com.example.app &&
        xcrun simctl spawn "$simulator" pluginkit -m -p com.apple.usernotifications.service
}
for name in "${steps[@]}"; do step "$name"; done
[ $failed -eq 0 ] || echo "apple-run: some steps failed; send the folder $report" >&2
exit $failed
