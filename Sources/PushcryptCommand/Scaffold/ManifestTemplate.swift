extension IOSScaffold {
    /// The package in which the same sources are compiled and run without Xcode.
    var manifest: ScaffoldFile {
        let content = """
                    .target(
                        name: "NotificationContent", dependencies: [standIns], path: "NotificationContent",
                        exclude: ["Info.plist", "NotificationContent.entitlements"]),

            """
        let contentDependency = hasContentExtension ? #", "NotificationContent""# : ""
        return ScaffoldFile(
            path: "Package.swift",
            text: #"""
                // swift-tools-version: 6.2
                // For Linux, where modules of pushcrypt stand in for Apple's: `swift test` runs the extension without a phone. For
                // a phone, Xcode builds the same sources.
                import PackageDescription

                let service = Target.Dependency.product(name: "PushcryptService", package: "pushcrypt")
                let standIns = Target.Dependency.product(name: "AppleStandIns", package: "pushcrypt")
                let simulator = Target.Dependency.product(name: "DeviceSimulator", package: "pushcrypt")

                let package = Package(
                    name: "Notifications",
                    platforms: [.iOS(.v15), .macOS(.v12)],
                    dependencies: [.package(name: "pushcrypt", path: \#(swiftLiteral(package)))],
                    targets: [
                        .target(
                            name: "App", dependencies: [service, standIns], path: "App",
                            exclude: ["App.entitlements", "Info.plist"]),
                        .target(
                            name: "NotificationService", dependencies: [service, standIns], path: "NotificationService",
                            exclude: ["Info.plist", "NotificationService.entitlements"]),
                \#(hasContentExtension ? content : "")        .testTarget(
                            name: "NotificationTests", dependencies: ["App", "NotificationService"\#(contentDependency), simulator],
                            path: "Tests"),
                    ]
                )

                """#)
    }
}
