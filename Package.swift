// swift-tools-version: 6.2
import PackageDescription

/// Every target, tests included, is compiled under the same strict rules.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A new warning of a newer Xcode must not stop the build of an app.
let strict = rules + [.treatAllWarnings(as: .error, .when(platforms: [.linux]))]
let strictC: [CSetting] = [
    .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

// Linux takes libsodium from the system, Apple platforms take it from swift-sodium (not built here). Conditions on platforms choose
// for the platform that is built for; the `#if os(Linux)` of this file is about the machine that builds, and is left where SwiftPM
// has no condition: it fetches a package even if no product of it is used, `pkgConfig` is a path of that machine, and a target or
// product cannot have a condition. Nothing is built for Apple platforms on Linux.
#if os(Linux)
    let sodiumPackages: [Package.Dependency] = []
    let sodium: [Target.Dependency] = ["CSodium"]
    let (sodiumConfig, sqliteConfig): (String?, String?) = ("libsodium", "sqlite3")
    let sodiumTargets: [Target] = []
#else
    let apple: [Platform] = [.iOS, .macOS, .macCatalyst, .tvOS, .visionOS, .watchOS]
    // The xcframework of swift-sodium collides with any other package's that has its module map at the root. A checkout may
    // have another one, which `Sources/Packaging/libsodium-xcframework.sh` builds. A variable chooses it, since SwiftPM
    // keeps what a manifest said until the manifest or such a variable changes.
    let hasOwnSodium = Context.environment["PUSHCRYPT_OWN_LIBSODIUM"] != nil
    // A later version may move its headers: Tests/Checks/Lint/sodium-layouts.sh has those that are known.
    let sodiumPackages: [Package.Dependency] =
        hasOwnSodium
        ? [] : [.package(url: "https://github.com/jedisct1/swift-sodium.git", "0.10.0"..<"0.11.0")]
    let sodiumTargets: [Target] =
        hasOwnSodium ? [.binaryTarget(name: "Clibsodium", path: "Libsodium.xcframework")] : []
    let sodium: [Target.Dependency] = [
        .target(name: "CSodium", condition: .when(platforms: [.linux])),
        hasOwnSodium
            ? .target(name: "Clibsodium", condition: .when(platforms: apple))
            : .product(name: "Clibsodium", package: "swift-sodium", condition: .when(platforms: apple)),
    ]
    let (sodiumConfig, sqliteConfig): (String?, String?) = (nil, nil)
#endif

// The library for other languages, which `make build LIBRARY=1` links: what C calls is `@c @implementation`, of Swift 6.3.
#if os(Linux) && compiler(>=6.3)
    let otherLanguagesProducts: [Product] = [.library(name: "PushcryptC", type: .dynamic, targets: ["PushcryptC"])]
    let otherLanguagesTargets: [Target] = [
        // The header, and what Swift has no words for: a variable of each thread's own.
        .target(
            name: "CPushcrypt", path: "Sources/PushcryptC", sources: ["last_error.c"],
            cSettings: strictC),
        .target(
            name: "PushcryptC", dependencies: ["CPushcrypt", "Pushcrypt"],
            exclude: ["include", "last_error.c", "pushcrypt.map"], swiftSettings: strict),
        .testTarget(
            name: "CLibraryTests", dependencies: ["CPushcrypt", "Pushcrypt", "PushcryptC"], swiftSettings: strict),
    ]
#else
    let otherLanguagesProducts: [Product] = []
    let otherLanguagesTargets: [Target] = []
#endif

// On Linux, modules with the names of Apple's stand in for them, so that extensions compile and run in tests; what needs one
// that Apple gives no initialiser for is tested there alone.
#if os(Linux)
    let standIns = "Sources/AppleStandIns"
    let userNotifications: [Target.Dependency] = ["UserNotifications"]
    let systemLog: [Target.Dependency] = ["os"]
    let intents: [Target.Dependency] = ["Intents"]
    let userInterface: [Target.Dependency] = ["UserNotificationsUI", "UIKit", "_Testing_UIKit"]
    let linuxProducts: [Product] = [
        .library(
            name: "AppleStandIns",
            targets: [
                "CallKit", "Intents", "PushKit", "UserNotifications", "UserNotificationsUI", "UIKit", "_Testing_UIKit",
                "os",
            ])
    ]
    let linuxTargets: [Target] = [
        .target(name: "UserNotifications", path: "\(standIns)/UserNotifications", swiftSettings: strict),
        .target(
            name: "Intents", dependencies: ["UserNotifications"], path: "\(standIns)/Intents", swiftSettings: strict),
        .target(name: "CallKit", path: "\(standIns)/CallKit", swiftSettings: strict),
        .target(name: "os", path: "\(standIns)/os", swiftSettings: strict),
        .target(name: "PushKit", path: "\(standIns)/PushKit", swiftSettings: strict),
        .target(name: "UIKit", path: "\(standIns)/UIKit", swiftSettings: strict),
        .target(
            name: "UserNotificationsUI", dependencies: ["UserNotifications", "UIKit"],
            path: "\(standIns)/UserNotificationsUI", swiftSettings: strict),
        // The compiler asks for it wherever Testing stands beside UIKit.
        .target(name: "_Testing_UIKit", path: "\(standIns)/_Testing_UIKit", swiftSettings: strict),
        .testTarget(name: "StandInTests", dependencies: userNotifications, swiftSettings: strict),
        .target(
            name: "TestPhone",
            dependencies: [
                "ModelKeychain", "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService",
                "UserNotifications", "Waiting",
            ],
            path: "Tests/Support/TestPhone", swiftSettings: strict),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "ModelKeychain", "Pushcrypt", "PushcryptIntents", "PushcryptKeyStore", "PushcryptReceiver",
                "PushcryptService", "Simulated", "TestPhone", "UserNotifications", "Waiting",
            ] + intents,
            exclude: ["attachment-server.py"], swiftSettings: strict),
        .testTarget(
            name: "SimulatorTests",
            dependencies: [
                "DeviceSimulator", "ModelKeychain", "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver",
                "PushcryptService", "ReceiverTests", "Seed", "Simulated", "TestPhone", "Waiting",
            ] + intents + userNotifications + userInterface,
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "ModelKeychain", "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptSend",
                "PushcryptService", "Seed", "Simulated", "TestPhone", "Waiting",
            ] + sodium + userNotifications,
            swiftSettings: strict),
        .executableTarget(
            name: "ServiceBench",
            dependencies: [
                "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService", "UserNotifications",
                "BareCalls",
            ],
            path: "Tests/Checks/Bench/ServiceBench", swiftSettings: strict),
        .executableTarget(
            name: "RelayPhone",
            dependencies: [
                "DeviceSimulator", "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService",
                "UserNotifications",
            ],
            path: "Tests/Checks/Relay/Phone", swiftSettings: strict),
        // The targets of fuzzing: libFuzzer runs them on made-up inputs, a test on the corpus.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CSQLite", "Pushcrypt", "PushcryptCommand", "PushcryptCommandKit", "PushcryptKeyStore",
                "PushcryptReceiver", "PushcryptSend",
            ] + sodium,
            path: "Tests/Support/FuzzTargets", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "Pushcrypt"], swiftSettings: strict),
        .executableTarget(
            name: "StackSecrets", dependencies: ["Pushcrypt"] + sodium, path: "Tests/Checks/Secrets/Stack",
            swiftSettings: strict),
    ]
    // The code of the documents, by the rules of an app; a test compares, and `make check PART=examples` builds it elsewhere.
    let inApps: [Target.Dependency] =
        [
            "CallKit", "PushKit", "Pushcrypt", "PushcryptApp", "PushcryptIntents", "PushcryptKeyStore",
            "PushcryptReceiver", "PushcryptService", "os",
        ]
        + userNotifications + intents + userInterface
    let appExamples = [
        "App", "CallNotificationService", "ChoosyNotificationService", "ExistingApp", "Migration",
        "NotificationService", "VendorNotificationService",
    ]
    let exampleTargets: [Target] =
        appExamples.map { .target(name: $0, dependencies: inApps, path: "Tests/Examples/\($0)") } + [
            .executableTarget(name: "Provider", dependencies: ["Pushcrypt"], path: "Tests/Examples/Provider"),
            .target(
                name: "Server", dependencies: ["Pushcrypt", "PushcryptKeyStore"],
                path: "Tests/Examples/Server"),
            .testTarget(
                name: "ExampleTests",
                dependencies: appExamples.map { .target(name: $0) }
                    + ["DeviceSimulator", "Provider", "Server"] + inApps),
            .testTarget(
                name: "CatalogueTests",
                dependencies: ["DeviceSimulator"] + inApps),
        ]
#else
    let userNotifications: [Target.Dependency] = []
    let systemLog: [Target.Dependency] = []
    let intents: [Target.Dependency] = []
    let userInterface: [Target.Dependency] = []
    let linuxProducts: [Product] = []
    let linuxTargets: [Target] = []
    let exampleTargets: [Target] = []
#endif

// libFuzzer and the address sanitizer have their own compiler options, so this is not a target of every build.
let fuzzTargets: [Target] =
    Context.environment["PUSHCRYPT_FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CFuzzer", path: "Tests/Checks/Fuzz/CFuzzer"),
        .executableTarget(
            name: "Fuzzer", dependencies: ["CFuzzer", "FuzzTargets", "Pushcrypt"], path: "Tests/Checks/Fuzz/Fuzzer",
            swiftSettings: strict,
            // gold fails on the second `main`, which is libFuzzer's own.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    ]

// No resource: SwiftPM makes one a bundle, and the code that finds bundles would bring Foundation into each of these modules.
// `pushcrypt scaffold ios` copies what the manifests say into the app instead. (`Docs/AppStore.md`)
let privacyManifest = ["PrivacyInfo.xcprivacy"]

let package = Package(
    name: "pushcrypt",
    platforms: [.iOS(.v15), .macCatalyst(.v15), .macOS(.v12), .visionOS(.v1)],
    products: [
        .library(name: "Pushcrypt", targets: ["Pushcrypt"]),
        .library(name: "PushcryptKeyStore", targets: ["PushcryptKeyStore"]),
        .library(name: "PushcryptReceiver", targets: ["PushcryptReceiver"]),
        .library(name: "PushcryptService", targets: ["PushcryptService"]),
        // Communication notifications: only an app that has it links Intents.
        .library(name: "PushcryptIntents", targets: ["PushcryptIntents"]),
        // The first four with one import.
        .library(name: "PushcryptApp", targets: ["PushcryptApp"]),
        .library(name: "DeviceSimulator", targets: ["DeviceSimulator"]),
        .executable(name: "pushcrypt", targets: ["PushcryptMain"]),
        // Started by `pushcrypt send`; no other product needs its three C libraries.
        .executable(name: "pushcrypt-send", targets: ["PushcryptSendMain"]),
    ] + linuxProducts + otherLanguagesProducts,
    dependencies: sodiumPackages,
    targets: linuxTargets + exampleTargets + otherLanguagesTargets + fuzzTargets + sodiumTargets + [
        .systemLibrary(
            name: "CSodium", path: "Sources/C/CSodium", pkgConfig: sodiumConfig,
            providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: sqliteConfig,
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .systemLibrary(name: "CProcess", path: "Sources/C/CProcess"),
        .systemLibrary(
            name: "CNghttp2", path: "Sources/C/CNghttp2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // Detects X-Wing in libsodium's headers.
        .target(
            name: "CXWing", dependencies: sodium, path: "Sources/C/CXWing",
            cSettings: strictC),
        .target(
            name: "Pushcrypt", dependencies: sodium + ["CXWing"], exclude: privacyManifest, swiftSettings: strict),
        .target(
            name: "PushcryptKeyStore", dependencies: ["Pushcrypt", "CSQLite"],
            path: "KeyStore", exclude: privacyManifest, swiftSettings: strict),
        .target(
            name: "PushcryptReceiver", dependencies: ["Pushcrypt", "PushcryptKeyStore"],
            exclude: privacyManifest, swiftSettings: strict),
        .target(
            name: "PushcryptService",
            dependencies: ["Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver"] + userNotifications + systemLog,
            exclude: privacyManifest, swiftSettings: strict),
        .target(
            name: "PushcryptIntents",
            dependencies: ["Pushcrypt", "PushcryptService"] + userNotifications + intents, swiftSettings: strict),
        .target(
            name: "PushcryptApp",
            dependencies: ["Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService"],
            swiftSettings: strict),
        .target(
            name: "DeviceSimulator",
            dependencies: ["PushcryptKeyStore", "PushcryptReceiver"] + userNotifications + userInterface,
            swiftSettings: strict),
        // Checks for developers; never part of an app, and out of reach of keys.
        .target(
            name: "PushcryptDeveloperTools", dependencies: ["Pushcrypt", "PushcryptCommandKit"],
            resources: [.embedInCode("Templates")], swiftSettings: strict),
        // Generic command-line framework.
        .target(
            name: "PushcryptCommandKit", dependencies: ["CProcess"], path: "Sources/PushcryptCommand/Kit",
            swiftSettings: strict),
        .target(
            name: "PushcryptCommand",
            dependencies: [
                "Pushcrypt", "PushcryptCommandKit", "PushcryptDeveloperTools", "PushcryptKeyStore", "PushcryptReceiver",
            ],
            exclude: ["Kit"], resources: [.embedInCode("Explanations/Codes.md")], swiftSettings: strict),
        .target(
            name: "CCrashes", path: "Sources/C/CCrashes",
            cSettings: strictC),
        .executableTarget(
            name: "PushcryptMain", dependencies: ["CCrashes", "PushcryptCommand"],
            cSettings: strictC),
        .target(
            name: "PushcryptSend",
            dependencies: ["CCurl", "CNghttp2", "COpenSSL", "Pushcrypt", "PushcryptCommand", "PushcryptCommandKit"],
            swiftSettings: strict),
        .executableTarget(
            name: "PushcryptSendMain", dependencies: ["CCrashes", "PushcryptSend"],
            cSettings: strictC),
        .testTarget(
            name: "SendTests",
            dependencies: [
                "Pushcrypt", "PushcryptCommand", "PushcryptCommandKit", "PushcryptSend", "Seed", "Simulated",
            ],
            swiftSettings: strict),
        // Ways for tests to wait.
        .target(name: "Waiting", path: "Tests/Support/Waiting", swiftSettings: strict),
        // The random numbers of all tests.
        .target(name: "Seed", path: "Tests/Support/Seed", swiftSettings: strict),
        // Parts of a world in which time is a number: APNs, a relay, a disk.
        .target(
            name: "Simulated",
            dependencies: ["Pushcrypt", "PushcryptKeyStore", "PushcryptSend", "PushcryptService", "Seed"],
            path: "Tests/Support/Simulated", swiftSettings: strict),
        // Tests that need X-Wing.
        .target(
            name: "PostQuantum", dependencies: ["Pushcrypt"], path: "Tests/Support/PostQuantum", swiftSettings: strict),
        // The reader of the test kit.
        .target(
            name: "VectorKit", dependencies: ["Pushcrypt"], path: "Tests/Support/VectorKit", swiftSettings: strict),
        .testTarget(
            name: "PushcryptTests", dependencies: ["PostQuantum", "Pushcrypt", "Seed", "VectorKit"],
            swiftSettings: strict),
        .testTarget(
            name: "PushcryptDeveloperToolsTests",
            dependencies: ["Pushcrypt", "PushcryptDeveloperTools", "PushcryptTests"], swiftSettings: strict),
        .target(
            name: "ModelKeychain", dependencies: ["Pushcrypt", "PushcryptKeyStore"],
            path: "Tests/Support/ModelKeychain", swiftSettings: strict),
        .testTarget(
            name: "KeyStoreTests",
            dependencies: [
                "PostQuantum", "Pushcrypt", "PushcryptKeyStore", "ModelKeychain", "Seed", "VectorKit", "Waiting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReceiverTests",
            dependencies: [
                "PostQuantum", "Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "ModelKeychain", "Seed",
                "Simulated", "VectorKit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "Pushcrypt", "PushcryptCommand", "PushcryptCommandKit", "PushcryptDeveloperTools", "PushcryptKeyStore",
                "PushcryptReceiver", "VectorKit",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "Races",
            dependencies: [
                "PushcryptKeyStore", "PushcryptReceiver", "PushcryptService", "Seed", "TestPhone", "UserNotifications",
            ],
            path: "Tests/Checks/Races", swiftSettings: strict),
        .target(
            name: "BareCalls", dependencies: sodium, path: "Tests/Checks/Bench/BareCalls",
            cSettings: strictC),
        .executableTarget(
            name: "PushcryptBench",
            dependencies: ["Pushcrypt", "PushcryptKeyStore", "PushcryptReceiver", "BareCalls", "Seed"],
            path: "Tests/Checks/Bench/PushcryptBench", swiftSettings: strict),
    ]
)
