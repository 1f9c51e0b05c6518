extension IOSScaffold {
    /// The package in which the same sources are compiled and run without Xcode.
    var manifest: ScaffoldFile {
        let content = """
                    .target(
                        name: "NotificationContent",
                        dependencies: products("PushcryptReceiver", "PushcryptService") + standIns,
                        path: "NotificationContent",
                        exclude: ["Info.plist", "NotificationContent.entitlements", "PrivacyInfo.xcprivacy"]),

            """
        let contentDependency = hasContentExtension ? #", "NotificationContent""# : ""
        let languages = StringTable.all.map { swiftLiteral($0.language) }.joined(separator: ", ")
        return ScaffoldFile(
            path: "Package.swift",
            text: #"""
                // swift-tools-version: 6.2
                // For Linux, where modules of pushcrypt stand in for Apple's: `swift test` runs the extension without a phone. For
                // a phone, Xcode builds the same sources.
                import PackageDescription

                func products(_ names: String...) -> [Target.Dependency] {
                    names.map { .product(name: $0, package: "pushcrypt") }
                }
                let library = products("Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService")
                let standIns = products("AppleStandIns")

                let package = Package(
                    name: "Notifications",
                    platforms: [.iOS(.v15), .macOS(.v12)],
                    dependencies: [.package(name: "pushcrypt", path: \#(swiftLiteral(package)))],
                    targets: [
                        .target(
                            name: "App", dependencies: library + standIns, path: "App",
                            exclude: ["App.entitlements", "Info.plist", "PrivacyInfo.xcprivacy"]
                                + [\#(languages)].map { "\($0).lproj" }),
                        .target(
                            name: "NotificationService", dependencies: library + standIns, path: "NotificationService",
                            exclude: ["Info.plist", "NotificationService.entitlements", "PrivacyInfo.xcprivacy"]),
                \#(hasContentExtension ? content : "")        .testTarget(
                            name: "NotificationTests",
                            dependencies: ["App", "NotificationService"\#(contentDependency)] + library
                                + products("DeviceSimulator") + standIns,
                            path: "Tests"),
                    ]
                )

                """#)
    }
}
