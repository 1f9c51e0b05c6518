// swift-tools-version: 6.2
// For Linux, where modules of pushcrypt replace Apple's: `swift test` in this folder runs the extension without a
// phone. For a phone, Xcode builds the same sources, to which the other names here are links.
import PackageDescription

func products(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "pushcrypt") }
}
let library = products("PushcryptApp")  // IF !communication
let library = products("PushcryptApp", "PushcryptIntents")  // IF communication
#if os(Linux)
    let standIns = products("AppleStandIns")
#else
    let standIns: [Target.Dependency] = []
#endif

let package = Package(
    name: "Notifications",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "pushcrypt", path: "../../pushcrypt")],  // IF !remote
    dependencies: [.package(url: "https://example.com/pushcrypt", from: "1.0.0")],  // IF remote
    targets: [
        .target(
            name: "App", dependencies: library + standIns, path: "App",
            exclude: [
                "App.entitlements", "Assets.xcassets", "Info.plist", "Localizable.xcstrings",
                "NotificationsApp.swift", "PrivacyInfo.xcprivacy",
            ]),
        .target(
            name: "NotificationService", dependencies: library + standIns, path: "NotificationService",
            exclude: ["Info.plist", "NotificationService.entitlements", "PrivacyInfo.xcprivacy"]),
        .target(  // IF content
            name: "NotificationContent", dependencies: library + standIns, path: "NotificationContent",  // IF content
            exclude: ["Info.plist", "NotificationContent.entitlements", "PrivacyInfo.xcprivacy"]),  // IF content
        .testTarget(
            name: "NotificationTests",
            dependencies: [
                "App", "NotificationService",
                "NotificationContent",  // IF content
            ] + library + products("DeviceSimulator") + standIns,
            path: "Tests"),
    ]
)
