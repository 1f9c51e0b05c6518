#!/usr/bin/env bash
# Builds the README's examples as a package of somebody else's that depends on this one, and lets the provider's output be
# opened by the receiver. Usage: readme-examples.sh PATH-OF-PUSHCRYPT
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
command=$(realpath "${1:?the path of the pushcrypt command}")
# Kept between runs, so that only what changed is compiled again.
work=$root/.build/readme-examples
mkdir -p "$work"

# The lines of the Swift block that follows <!-- example: NAME -->
example() {
    awk -v name="$1" '
        $0 == "<!-- example: " name " -->" { found = 1; next }
        found && /^```swift$/ { inside = 1; next }
        inside && /^```$/ { exit }
        inside { print }' "$root/README.md"
}

for name in provider receiver; do
    mkdir -p "$work/Sources/$name"
    example "$name" > "$work/main.new"
    [ -s "$work/main.new" ] || { echo "README.md has no example called $name" >&2; exit 1; }
    # An unchanged file keeps its time, and is not compiled again.
    cmp -s "$work/main.new" "$work/Sources/$name/main.swift" || mv "$work/main.new" "$work/Sources/$name/main.swift"
done
rm -f "$work/main.new"
cat > "$work/Package.swift" <<EOF
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "outside",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "pushcrypt", path: "$root")],
    targets: [
        .executableTarget(name: "provider", dependencies: [.product(name: "Pushcrypt", package: "pushcrypt")]),
        .executableTarget(name: "receiver", dependencies: [.product(name: "Pushcrypt", package: "pushcrypt")]),
    ]
)
EOF
swift build --quiet --package-path "$work"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$command" keygen device --output phone.key > phone.pub
"$command" keygen sender --output sender.key > sender.pub
"$work/.build/debug/provider" > push.json
shown=$("$work/.build/debug/receiver")
[ "$shown" = "Table for two: See you at 8" ] || { echo "the README's receiver shows '$shown'" >&2; exit 1; }
echo "README examples: built as an outside package, sealed and opened"
