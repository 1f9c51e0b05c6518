import Foundation
import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptDeveloperTools

/// The privacy manifests: an app's statements to Apple about this package. (`Docs/AppStore.md`)
@Suite struct PrivacyManifestTests {
    /// The products that an app links, with the folder of their sources.
    private static let products = [
        "Pushcrypt": "Sources/Pushcrypt", "PushcryptKeyStore": "KeyStore",
        "PushcryptReceiver": "Sources/PushcryptReceiver", "PushcryptService": "Sources/PushcryptService",
    ]
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// All Swift of a product.
    private static func source(of folder: String) throws -> String {
        let names = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
        let paths = names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        try #require(!paths.isEmpty)
        return try paths.map { try text(of: "\(folder)/\($0)") }.joined(separator: "\n")
    }

    @Test("Every product that an app links has a manifest, and so has nothing else")
    func each() throws {
        let package = try Self.text(of: "Package.swift")
        let libraries = package.components(separatedBy: "        .library(name: \"").dropFirst()
            .compactMap { $0.components(separatedBy: "\"").first }
        // Of a test, not of an app; the others with one import; and one that reads nothing.
        #expect(
            Set(libraries) == Set(Self.products.keys).union(["DeviceSimulator", "PushcryptApp", "PushcryptIntents"]))
        #expect(RequiredReason.categories(in: try Self.source(of: "Sources/PushcryptIntents")).isEmpty)
        let files = try #require(FileManager.default.enumerator(atPath: Self.root.appending(path: "Sources").path))
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".xcprivacy") && !$0.contains("/Templates/") }
        #expect(files.count == Self.products.values.count { $0.hasPrefix("Sources/") })
    }

    @Test("A manifest names the categories that the sources use, and no other", arguments: products.keys.sorted())
    func same(product: String) throws {
        let folder = try #require(Self.products[product])
        let used = RequiredReason.categories(in: try Self.source(of: folder))
        let manifest = try PrivacyManifest(text: Self.text(of: "\(folder)/PrivacyInfo.xcprivacy"))
        #expect(Set(manifest.reasons.keys) == Set(used.map(\.rawValue)))
        #expect(manifest.reasons.values.allSatisfy { $0 == ["C617.1"] }, "files of the app and of its app group")
        #expect(manifest.collectsNothing)
    }

    @Test(
        "One call more, and the manifest falls short",
        arguments: RequiredReason.allCases.flatMap { category in category.names.map { (category, $0) } })
    func more(category: RequiredReason, name: String) throws {
        let manifest = try PrivacyManifest(text: Self.text(of: "Sources/Pushcrypt/PrivacyInfo.xcprivacy"))
        for call in ["_ = unsafe \(name)(1)", "values.\(name)", "[.\(name)]", "@\(name) var x"] {
            #expect(RequiredReason.categories(in: "import A\n" + call) == [category])
            #expect(manifest.reasons[category.rawValue] == nil)
        }
        #expect(RequiredReason.categories(in: "    /// Like `\(name)`, but // \(name)(1)").isEmpty)
    }

    @Test("What is only spelled alike needs no reason")
    func others() {
        #expect(RequiredReason.categories(in: "status(); let stats = state; myUserDefaultsKey; fstat_").isEmpty)
    }

    @Test("The manifests that a scaffold writes cover the products that its targets link, and the scaffold's own files")
    func scaffold() throws {
        let files = try StringTableTests.scaffold()
        let linked = try Self.products.values.map { try Self.source(of: $0) }.joined()
        for target in ["App", "NotificationService", "NotificationContent"] {
            let own = files.filter { $0.path.hasPrefix(target + "/") && $0.path.hasSuffix(".swift") }.map(\.text)
            try #require(!own.isEmpty)
            let used = RequiredReason.categories(in: linked + own.joined(separator: "\n"))
            let file = try #require(files.first { $0.path == "\(target)/PrivacyInfo.xcprivacy" })
            let manifest = try PrivacyManifest(text: file.text)
            #expect(Set(manifest.reasons.keys) == Set(used.map(\.rawValue)))
            #expect(manifest.reasons.values.allSatisfy { $0 == ["C617.1"] })
            #expect(manifest.collectsNothing)
        }
    }
}

/// A `PrivacyInfo.xcprivacy`, as far as this project writes one; anything else in it is an error.
private struct PrivacyManifest {
    /// By category.
    let reasons: [String: [String]]
    let collectsNothing: Bool

    init(text: String) throws {
        let plist = try unsafe PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        let root = try #require(plist as? [String: Any])
        #expect(
            root.keys.sorted() == [
                "NSPrivacyAccessedAPITypes", "NSPrivacyCollectedDataTypes", "NSPrivacyTracking",
                "NSPrivacyTrackingDomains",
            ])
        var reasons: [String: [String]] = [:]
        for type in try #require(root["NSPrivacyAccessedAPITypes"] as? [[String: Any]]) {
            #expect(type.count == 2)
            let category = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            #expect(reasons[category] == nil)
            reasons[category] = try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
        }
        self.reasons = reasons
        let collected = root["NSPrivacyCollectedDataTypes"] as? [Any]
        let domains = root["NSPrivacyTrackingDomains"] as? [Any]
        collectsNothing =
            collected?.isEmpty == true && domains?.isEmpty == true && root["NSPrivacyTracking"] as? Bool == false
    }
}
