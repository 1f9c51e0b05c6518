#!/usr/bin/env bash
# Builds the examples of README.md, Docs/ServiceExtension.md, Docs/SwiftServers.md, Docs/migration and the API
# documentation as an outside package that depends on this one, runs the tests among them, and opens the message that
# the provider's example seals.
# Usage: document-examples.sh PATH-OF-PUSHCRYPT
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
command=$(realpath "${1:?the path of the pushcrypt command}")
# Kept between runs, so that only changes are recompiled; scaffold.sh builds in the same folder, so that the library is
# compiled once for both.
work=$root/.build/document-examples
build=$root/.build/outside
mkdir -p "$work"
: > "$work/written"

fail() {
    echo "document-examples: error: $1" >&2
    exit 1
}

# Writes standard input to a source file of a target. An unchanged file keeps its time and is not recompiled.
source_file() {
    mkdir -p "$work/$(dirname "$1")"
    echo "$work/$1" >> "$work/written"
    cat > "$work/new"
    cmp -s "$work/new" "$work/$1" || cp "$work/new" "$work/$1"
    rm -f "$work/new"
}

# Writes the Swift block after <!-- example: NAME --> in a document to a source file.
example() {
    awk -v name="$2" '
        $0 == "<!-- example: " name " -->" { found = 1; next }
        found && /^```swift$/ { inside = 1; next }
        inside && /^```$/ { exit }
        inside { print }' "$root/$1" > "$work/example"
    [ -s "$work/example" ] || fail "$1 has no example called $2"
    source_file "$3" < "$work/example"
    compiled=$((${compiled:-0} + 1))
}

guide=Docs/ServiceExtension.md
example README.md provider Sources/provider/main.swift
example README.md extension Sources/ReadmeService/NotificationService.swift
example $guide extension Sources/NotificationService/NotificationService.swift
example $guide handler Sources/VendorNotificationService/NotificationService.swift
example $guide choices Sources/ChoosyNotificationService/NotificationService.swift
example $guide enrolment Sources/App/Enrolment.swift
example $guide registrar Sources/Server/Registrar.swift
example $guide shared Sources/App/Shared.swift
example $guide background Sources/App/BackgroundPushes.swift
example $guide calls Sources/App/Calls.swift
example $guide call Sources/CallNotificationService/NotificationService.swift
example $guide journal Sources/App/Journal.swift
example $guide test Tests/NotificationServiceTests/NotificationServiceTests.swift
source_file Tests/NotificationServiceTests/Phone.swift < "$root/Tests/Checks/Outside/Phone.swift"
source_file Tests/CallTests/CallTests.swift < "$root/Tests/Checks/Outside/CallTests.swift"

server=Docs/SwiftServers.md
example $server one Sources/Server/Notifier.swift
example $server client Sources/Server/ClientPayload.swift
example $server long Sources/Server/LongText.swift
example $server queue Sources/Server/Queue.swift
source_file Sources/Server/KeyServiceSigner.swift < "$root/Tests/Checks/Outside/KeyServiceSigner.swift"
for name in ServerTests RegistrarTests; do
    source_file "Tests/ServerTests/$name.swift" < "$root/Tests/Checks/Outside/$name.swift"
done

for name in plain:plain-payloads web-push:web-push shared-key:shared-key sealed-boxes:sealed-boxes; do
    example "Docs/migration/${name#*:}.md" "${name%:*}" "Sources/Migration/${name#*:}.swift"
done
source_file Tests/MigrationTests/MigrationTests.swift < "$root/Tests/Checks/Outside/MigrationTests.swift"

listed=$(cat "$root/README.md" "$root/$guide" "$root/$server" "$root"/Docs/migration/*.md | grep -c "^ *<!-- example: ")
[ "$compiled" = "$listed" ] || fail "$listed examples are in the documents, and $compiled are compiled here"

# Every Swift block of the catalogues, in one module: a page may continue another page's example.
pages=$("$root/Tests/Checks/API/documentation.py" examples "$work/Tests/CatalogueTests/Examples") || exit 1
swift format lint --strict --configuration "$root/.swift-format" --recursive "$work/Tests/CatalogueTests/Examples"
source_file Tests/CatalogueTests/CatalogueTests.swift < "$root/Tests/Checks/Outside/CatalogueTests.swift"

# Code of an app that the examples assume.
source_file Sources/VendorNotificationService/Vendor.swift <<'EOF'
import UserNotifications

nonisolated class VendorService: UNNotificationServiceExtension {}
EOF
source_file Sources/ChoosyNotificationService/AddressBook.swift <<'EOF'
nonisolated enum AddressBook {
    @Sendable static func name(_ id: String) -> String? { nil }
}
EOF
source_file Sources/App/Server.swift <<'EOF'
import Foundation

protocol Server: Sendable {
    func register(_ record: Data, _ token: Data) async throws -> Data
    func forget(_ device: String) async throws
}
EOF
# The old code that the migration guides call: a dummy that returns its input, unless it is "no".
source_file Sources/Migration/Old.swift <<'EOF'
import UserNotifications

nonisolated final class WebPushService: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let content = UNMutableNotificationContent()
        content.title = request.content.userInfo["web-push"] as? String ?? ""
        contentHandler(content)
    }
}

struct Undecipherable: Error {}

nonisolated enum SharedKeyCipher {
    static func open(_ text: String) throws -> (title: String, body: String) {
        guard text != "no" else { throw Undecipherable() }
        return (text, "")
    }
}

nonisolated enum SealedBox {
    static func open(_ text: String) throws -> String {
        guard text != "no" else { throw Undecipherable() }
        return text
    }
}
EOF
# An example that was removed is not compiled again.
find "$work/Sources" "$work/Tests" -name '*.swift' ! -path '*/CatalogueTests/Examples/*' | while read -r file; do
    grep -qxF "$file" "$work/written" || rm "$file"
done
cat > "$work/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

#if os(Linux)
    let standIns: [Target.Dependency] = [.product(name: "AppleStandIns", package: "pushcrypt")]
#else
    let standIns: [Target.Dependency] = []
#endif
let service: [Target.Dependency] = [.product(name: "PushcryptService", package: "pushcrypt")] + standIns
let sealing: [Target.Dependency] = [
    .product(name: "Pushcrypt", package: "pushcrypt"), .product(name: "PushcryptKeyStore", package: "pushcrypt"),
]
let simulator: Target.Dependency = .product(name: "DeviceSimulator", package: "pushcrypt")
let tools: Target.Dependency = .product(name: "PushcryptDeveloperTools", package: "pushcrypt")

let package = Package(
    name: "outside",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "pushcrypt", path: "$root")],
    targets: [
        .executableTarget(name: "provider", dependencies: [.product(name: "Pushcrypt", package: "pushcrypt")]),
        .target(name: "Server", dependencies: sealing),
        .testTarget(name: "ServerTests", dependencies: ["Server"] + sealing),
        .target(name: "ReadmeService", dependencies: service),
        .target(name: "NotificationService", dependencies: service),
        .target(name: "VendorNotificationService", dependencies: service),
        .target(name: "ChoosyNotificationService", dependencies: service),
        .target(name: "CallNotificationService", dependencies: service),
        .target(name: "App", dependencies: service),
        .target(name: "Migration", dependencies: service),
        .testTarget(name: "MigrationTests", dependencies: ["Migration", simulator] + service),
        .testTarget(name: "CallTests", dependencies: ["App", "CallNotificationService", simulator] + service),
        .testTarget(name: "CatalogueTests", dependencies: [simulator, tools] + sealing + service),
        .testTarget(name: "NotificationServiceTests", dependencies: ["NotificationService", simulator] + service),
    ]
)
EOF
swift build --quiet --build-tests --package-path "$work" --scratch-path "$build"
swift test --quiet --skip-build --package-path "$work" --scratch-path "$build" > "$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "a test of $guide, $server, Docs/migration or the API documentation fails"
}

"$root/Tests/Checks/Lint/apple-floor.sh" app \
    "$work"/Sources/{ReadmeService,NotificationService,VendorNotificationService,ChoosyNotificationService,CallNotificationService,App}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$command" keygen device --output phone.key > phone.pub
"$command" keygen sender --output sender.key > sender.pub
"$build/debug/provider" > push.json
"$command" open --device-key-file phone.key --sender "$(cat sender.pub)" --topic com.example.app --json push.json > shown.json
grep -q '"title":"Table for two","subtitle":"","body":"See you at 8"' shown.json || fail "the README's push is shown as $(cat shown.json)"
echo "examples: $compiled of README.md, $guide, $server and Docs/migration and $pages of the API documentation built as an outside package, the tests run, the push opened"
