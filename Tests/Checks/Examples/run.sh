#!/usr/bin/env bash
# Builds the sources of Tests/Examples and the tests beside them as a package that depends on this one, so that an example has nothing
# but public API, checks that what runs in an app runs on iOS 15, and opens what README's provider seals.
# Usage: run.sh PATH-OF-PUSHCRYPT
set -euo pipefail
command=$(realpath "${1:?the path of the pushcrypt command}")
cd "$(dirname "$0")/../../.."
work=.build/examples
apps=(App CallNotificationService ChoosyNotificationService NotificationService VendorNotificationService)
rm -rf "$work" && mkdir -p "$work/Sources" "$work/Tests"
ln -s "$PWD"/Tests/Examples/* "$work/Sources"
ln -s "$PWD"/Tests/{ExampleTests,CatalogueTests} "$work/Tests"
cat >"$work/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

func of(_ names: String...) -> [Target.Dependency] { names.map { .product(name: \$0, package: "pushcrypt") } }
let provider = of("Pushcrypt", "PushcryptKeyStore")
let inApps = of("AppleStandIns", "PushcryptApp", "PushcryptIntents")
let inTests = provider + inApps + of("DeviceSimulator")
let apps = "Migration ${apps[*]}".split(separator: " ").map(String.init)
let package = Package(
    name: "outside", dependencies: [.package(name: "pushcrypt", path: "$PWD")],
    targets: [
        .executableTarget(name: "Provider", dependencies: provider), .target(name: "Server", dependencies: provider),
        .testTarget(name: "ExampleTests", dependencies: apps.map { .target(name: \$0) } + ["Server"] + inTests),
        .testTarget(name: "CatalogueTests", dependencies: inTests),
    ] + apps.map { .target(name: \$0, dependencies: inApps) })
END
# In the same folder as Scaffold/run.sh, so that the library is compiled once for both.
swift build --quiet --build-tests --package-path "$work" --scratch-path .build/outside
Tests/Checks/Lint/apple-floor.sh app "${apps[@]/#/Tests/Examples/}"
provider=$PWD/.build/outside/debug/Provider
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
"$command" key new device --output phone.key >phone.pub
"$command" key new provider --output provider.key >provider.pub
"$provider" >push.json
"$command" open --device-key-file phone.key --provider "$(cat provider.pub)" --topic com.example.app --banner push.json | grep 'Table for two'
