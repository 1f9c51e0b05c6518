// The project that opens in Xcode: its targets, settings and scheme.
extension IOSScaffold {
    /// A target of the project.
    struct Target {
        enum Kind: String {
            case app = "com.apple.product-type.application"
            case appExtension = "com.apple.product-type.app-extension"
            case tests = "com.apple.product-type.bundle.unit-test"

            var product: (ending: String, type: String) {
                switch self {
                case .app: ("app", "wrapper.application")
                case .appExtension: ("appex", "wrapper.app-extension")
                case .tests: ("xctest", "wrapper.cfbundle")
                }
            }
        }

        let name: String
        let kind: Kind
        let folder: String
        let products: [String]
        /// Files of the folders of other targets that this one has too.
        var borrowed: [(folder: String, files: [String])] = []
        let settings: [String: XcodeProject.Value]

        var product: String { "\(name).\(kind.product.ending)" }
    }

    static let projectName = "Notifications"
    private static let library = ["PushcryptApp"]

    /// The targets, the app first and the tests last.
    var targets: [Target] {
        var targets = [
            Target(
                name: "App", kind: .app, folder: "App", products: Self.library,
                settings: [
                    "ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES": .text("YES"),
                    "CODE_SIGN_ENTITLEMENTS": .text("App/App.entitlements"), "INFOPLIST_FILE": .text("App/Info.plist"),
                    "INFOPLIST_KEY_UILaunchScreen_Generation": .text("YES"),
                    // Apple requires all of them of an app for iPad that does not fill the screen.
                    "INFOPLIST_KEY_UISupportedInterfaceOrientations_iPad": .text(
                        "UIInterfaceOrientationPortrait UIInterfaceOrientationPortraitUpsideDown UIInterfaceOrientationLandscapeLeft UIInterfaceOrientationLandscapeRight"
                    ),
                    "LD_RUNPATH_SEARCH_PATHS": .texts("$(inherited)", "@executable_path/Frameworks"),
                    "PRODUCT_BUNDLE_IDENTIFIER": .text("\(topic)"), "PRODUCT_NAME": .text("$(TARGET_NAME)"),
                    "SWIFT_DEFAULT_ACTOR_ISOLATION": .text("MainActor"),
                ]),
            Target(
                name: "NotificationService", kind: .appExtension, folder: "NotificationService", products: Self.library,
                settings: extensionSettings("NotificationService", suffix: "service")),
        ]
        if hasContentExtension {
            // Its texts are looked up in its own bundle.
            targets.append(
                Target(
                    name: "NotificationContent", kind: .appExtension, folder: "NotificationContent",
                    products: Self.library,
                    borrowed: [("App", ["Localizable.xcstrings"])],
                    settings: extensionSettings("NotificationContent", suffix: "content")))
        }
        targets.append(
            Target(
                name: "NotificationTests", kind: .tests, folder: "Tests", products: ["DeviceSimulator"] + Self.library,
                // An extension is a program, which a test bundle cannot link: the tests compile the class themselves.
                borrowed: [("NotificationService", ["NotificationService.swift"])],
                settings: [
                    "BUNDLE_LOADER": .text("$(TEST_HOST)"), "PRODUCT_BUNDLE_IDENTIFIER": .text("\(topic).tests"),
                    "PRODUCT_NAME": .text("$(TARGET_NAME)"),
                    "TEST_HOST": .text("$(BUILT_PRODUCTS_DIR)/App.app/$(BUNDLE_EXECUTABLE_FOLDER_PATH)/App"),
                ]))
        return targets
    }

    private func extensionSettings(_ name: String, suffix: String) -> [String: XcodeProject.Value] {
        [
            // Apple refuses a Frameworks folder in an extension.
            "ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES": .text("NO"), "APPLICATION_EXTENSION_API_ONLY": .text("YES"),
            "CODE_SIGN_ENTITLEMENTS": .text("\(name)/\(name).entitlements"),
            "INFOPLIST_FILE": .text("\(name)/Info.plist"),
            // The last path is not Xcode's default: the app's libraries are there.
            "LD_RUNPATH_SEARCH_PATHS": .texts(
                "$(inherited)", "@executable_path/Frameworks", "@executable_path/../../Frameworks"),
            "PRODUCT_BUNDLE_IDENTIFIER": .text("\(topic).\(suffix)"), "PRODUCT_NAME": .text("$(TARGET_NAME)"),
            "SKIP_INSTALL": .text("YES"),
        ]
    }

    // MARK: Settings of the project

    /// What every configuration has. Version and build number are only here, so that app and extensions agree.
    static let projectSettings: [String: String] = [
        "ALWAYS_SEARCH_USER_PATHS": "NO", "CLANG_ENABLE_MODULES": "YES", "CODE_SIGN_STYLE": "Automatic",
        "CURRENT_PROJECT_VERSION": "1", "DEVELOPMENT_TEAM": "", "ENABLE_USER_SCRIPT_SANDBOXING": "YES",
        "GENERATE_INFOPLIST_FILE": "YES", "IPHONEOS_DEPLOYMENT_TARGET": "15.0",
        "LOCALIZATION_PREFERS_STRING_CATALOGS": "YES", "MARKETING_VERSION": "1.0", "SDKROOT": "iphoneos",
        "SUPPORTED_PLATFORMS": "iphoneos iphonesimulator", "SUPPORTS_MACCATALYST": "NO",
        "SWIFT_APPROACHABLE_CONCURRENCY": "YES", "SWIFT_VERSION": "6.0", "TARGETED_DEVICE_FAMILY": "1,2",
    ]
    static let debugSettings: [String: String] = [
        "DEBUG_INFORMATION_FORMAT": "dwarf", "ENABLE_TESTABILITY": "YES", "GCC_OPTIMIZATION_LEVEL": "0",
        "ONLY_ACTIVE_ARCH": "YES", "SWIFT_ACTIVE_COMPILATION_CONDITIONS": "DEBUG $(inherited)",
        "SWIFT_OPTIMIZATION_LEVEL": "-Onone",
    ]
    static let releaseSettings: [String: String] = [
        "DEBUG_INFORMATION_FORMAT": "dwarf-with-dsym", "SWIFT_COMPILATION_MODE": "wholemodule",
        "VALIDATE_PRODUCT": "YES",
    ]

    // MARK: The project

    /// The project, with folders that follow the file system: a new file in one is in its target.
    var xcodeProject: ScaffoldFile {
        var project = XcodeProject()
        let targets = targets
        let extensions = targets.filter { $0.kind == .appExtension }
        addPackage(to: &project)
        for target in targets {
            add(target, embedding: target.kind == .app ? extensions : [], to: &project)
            addFolder(of: target, for: targets, to: &project)
        }
        addConfigurations(
            "project", of: "PBXProject \"\(Self.projectName)\"",
            debug: Self.projectSettings.merging(Self.debugSettings) { $1 }.mapValues { .text($0) },
            release: Self.projectSettings.merging(Self.releaseSettings) { $1 }.mapValues { .text($0) }, to: &project)
        project.add(
            "products", "PBXGroup", "Products",
            [
                ("children", .objects(targets.map { "\($0.name) product" })), ("name", .text("Products")),
                ("sourceTree", .text("<group>")),
            ])
        project.add(
            "main group", "PBXGroup", "",
            [
                ("children", .objects(targets.map { "\($0.name) folder" } + ["products"])),
                ("sourceTree", .text("<group>")),
            ])
        let attributes = targets.map { target in
            var attributes: [(key: XcodeProject.Value, value: XcodeProject.Value)] = [
                (.text("CreatedOnToolsVersion"), .text("26.0"))
            ]
            if target.kind == .tests { attributes.append((.text("TestTargetID"), Self.identifier(of: targets[0]))) }
            return (key: Self.identifier(of: target), value: XcodeProject.Value.dictionary(attributes))
        }
        project.add(
            "project", "PBXProject", "Project object",
            [
                (
                    "attributes",
                    .dictionary([
                        (.text("BuildIndependentTargetsInParallel"), .text("1")),
                        (.text("LastSwiftUpdateCheck"), .text("2600")), (.text("LastUpgradeCheck"), .text("2600")),
                        (.text("TargetAttributes"), .dictionary(attributes)),
                    ])
                ),
                ("buildConfigurationList", .object("project configurations")), ("developmentRegion", .text("en")),
                ("hasScannedForEncodings", .text("0")),
                (
                    "knownRegions",
                    .list((["en", "Base"] + StringTable.all.map(\.language).filter { $0 != "en" }).map { .text($0) })
                ),
                ("mainGroup", .object("main group")), ("minimizedProjectReferenceProxies", .text("1")),
                ("packageReferences", .objects(["package"])), ("preferredProjectObjectVersion", .text("77")),
                ("productRefGroup", .object("products")), ("projectDirPath", .text("")), ("projectRoot", .text("")),
                ("targets", .objects(targets.map { "\($0.name) target" })),
            ])
        return ScaffoldFile(
            path: "\(Self.projectName).xcodeproj/project.pbxproj", text: project.text(root: "project"))
    }

    private static func identifier(of target: Target) -> XcodeProject.Value {
        .text(XcodeProject.identifier("\(target.name) target"))
    }

    private func addPackage(to project: inout XcodeProject) {
        project.add(
            "package", "XCLocalSwiftPackageReference", "XCLocalSwiftPackageReference \"\(projectPackage)\"",
            [("relativePath", .text(projectPackage))])
    }

    private func add(_ target: Target, embedding extensions: [Target], to project: inout XcodeProject) {
        let name = target.name
        project.add(
            "\(name) product", "PBXFileReference", target.product,
            [
                ("explicitFileType", .text(target.kind.product.type)), ("includeInIndex", .text("0")),
                ("path", .text(target.product)), ("sourceTree", .text("BUILT_PRODUCTS_DIR")),
            ])
        for product in target.products {
            project.add(
                "\(name) uses \(product)", "XCSwiftPackageProductDependency", product,
                [("package", .object("package")), ("productName", .text(product))])
            project.add(
                "\(name) links \(product)", "PBXBuildFile", "\(product) in Frameworks",
                [("productRef", .object("\(name) uses \(product)"))])
        }
        // Sources and resources come from the folder.
        var phases = ["Sources", "Frameworks", "Resources"]
        for phase in phases {
            let files = phase == "Frameworks" ? target.products.map { "\(name) links \($0)" } : []
            project.add("\(name) \(phase)", "PBX\(phase)BuildPhase", phase, Self.phase(files))
        }
        if !extensions.isEmpty {
            phases.append("embeds")
            for appex in extensions {
                project.add(
                    "embeds \(appex.name)", "PBXBuildFile", "\(appex.product) in Embed Foundation Extensions",
                    [
                        ("fileRef", .object("\(appex.name) product")),
                        ("settings", .dictionary([(.text("ATTRIBUTES"), .texts("RemoveHeadersOnCopy"))])),
                    ])
            }
            // The last member: 1 would be "copy only when installing", and a debug build without extensions.
            project.add(
                "\(name) embeds", "PBXCopyFilesBuildPhase", "Embed Foundation Extensions",
                [
                    ("buildActionMask", .text("2147483647")), ("dstPath", .text("")), ("dstSubfolderSpec", .text("13")),
                    ("files", .objects(extensions.map { "embeds \($0.name)" })),
                    ("name", .text("Embed Foundation Extensions")), ("runOnlyForDeploymentPostprocessing", .text("0")),
                ])
        }
        let needed = target.kind == .tests ? ["App"] : extensions.map(\.name)
        for other in needed {
            project.add(
                "\(name) proxy of \(other)", "PBXContainerItemProxy", "PBXContainerItemProxy",
                [
                    ("containerPortal", .object("project")), ("proxyType", .text("1")),
                    ("remoteGlobalIDString", .text(XcodeProject.identifier("\(other) target"))),
                    ("remoteInfo", .text(other)),
                ])
            project.add(
                "\(name) needs \(other)", "PBXTargetDependency", "PBXTargetDependency",
                [("target", .object("\(other) target")), ("targetProxy", .object("\(name) proxy of \(other)"))])
        }
        addConfigurations(
            name, of: "PBXNativeTarget \"\(name)\"", debug: target.settings, release: target.settings, to: &project)
        project.add(
            "\(name) target", "PBXNativeTarget", name,
            [
                ("buildConfigurationList", .object("\(name) configurations")),
                ("buildPhases", .objects(phases.map { "\(name) \($0)" })), ("buildRules", .list([])),
                ("dependencies", .objects(needed.map { "\(name) needs \($0)" })),
                ("fileSystemSynchronizedGroups", .objects(["\(name) folder"])), ("name", .text(name)),
                ("packageProductDependencies", .objects(target.products.map { "\(name) uses \($0)" })),
                ("productName", .text(name)), ("productReference", .object("\(name) product")),
                ("productType", .text(target.kind.rawValue)),
            ])
    }

    private static func phase(_ files: [String]) -> [(name: String, value: XcodeProject.Value)] {
        [
            ("buildActionMask", .text("2147483647")), ("files", .objects(files)),
            ("runOnlyForDeploymentPostprocessing", .text("0")),
        ]
    }

    /// The folder of a target. Its property list is no resource, and other targets may have some of its files.
    private func addFolder(of target: Target, for targets: [Target], to project: inout XcodeProject) {
        var exceptions: [String] = []
        func add(_ files: [String], _ owner: String) {
            let role = "\(target.name) exceptions for \(owner)"
            project.add(
                role, "PBXFileSystemSynchronizedBuildFileExceptionSet",
                "Exceptions for \"\(target.folder)\" folder in \"\(owner)\" target",
                [("membershipExceptions", .list(files.map { .text($0) })), ("target", .object("\(owner) target"))])
            exceptions.append(role)
        }
        if target.kind != .tests { add(["Info.plist"], target.name) }
        for other in targets {
            for (folder, files) in other.borrowed where folder == target.folder { add(files, other.name) }
        }
        let list = exceptions.isEmpty ? [] : [("exceptions", XcodeProject.Value.objects(exceptions))]
        project.add(
            "\(target.name) folder", "PBXFileSystemSynchronizedRootGroup", target.folder,
            list.map { (name: $0.0, value: $0.1) } + [
                ("path", .text(target.folder)), ("sourceTree", .text("<group>")),
            ])
    }

    private func addConfigurations(
        _ role: String, of owner: String, debug: [String: XcodeProject.Value], release: [String: XcodeProject.Value],
        to project: inout XcodeProject
    ) {
        for (name, settings) in [("Debug", debug), ("Release", release)] {
            project.add(
                "\(role) \(name)", "XCBuildConfiguration", name,
                [("buildSettings", .settings(settings)), ("name", .text(name))])
        }
        project.add(
            "\(role) configurations", "XCConfigurationList", "Build configuration list for \(owner)",
            [
                ("buildConfigurations", .objects(["\(role) Debug", "\(role) Release"])),
                ("defaultConfigurationIsVisible", .text("0")), ("defaultConfigurationName", .text("Release")),
            ])
    }
}
