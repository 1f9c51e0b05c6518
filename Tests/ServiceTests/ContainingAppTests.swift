import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import PushcryptService

/// The app whose pushes an extension opens, from the bundles that Xcode builds.
final class ContainingAppTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-app-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A bundle with a property list, which on a Mac is in Contents.
    private func bundle(_ path: String, _ info: [String: String], contents: String = "") throws -> Bundle {
        let place = folder.appendingPathComponent(path)
        let list = place.appendingPathComponent(contents).appendingPathComponent("Info.plist")
        try FileManager.default.createDirectory(at: list.deletingLastPathComponent(), withIntermediateDirectories: true)
        try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0).write(to: list)
        return try #require(Bundle(url: place))
    }

    @Test(arguments: [("App.app/PlugIns", ""), ("App.app/Contents/PlugIns", "Contents")])
    func anExtensionTakesTheAppsBundleID(_ plugIns: String, _ contents: String) throws {
        let app = try bundle("App.app", ["CFBundleIdentifier": "com.example.app"], contents: contents)
        let info = ["CFBundleIdentifier": "com.example.app.service", "PushcryptAppGroup": "group.com.example"]
        let appex = try bundle("\(plugIns)/Service.appex", info, contents: contents)
        #expect(try ContainingApp(of: appex).topic().bundleID == "com.example.app")
        #expect(try ContainingApp(of: app).topic().bundleID == "com.example.app")
        let group = try AppGroup(identifier: "group.com.example", topic: Topic("com.example.app"))
        #expect(try ContainingApp(of: appex).appGroup() == group)
    }

    @Test func anExtensionInNoAppHasNoTopic() throws {
        let appex = try bundle("Service.appex", ["CFBundleIdentifier": "com.example.app.service"])
        #expect(throws: InvalidTopic.self) { try ContainingApp(of: appex).topic() }
    }

    @Test(arguments: [nil, "", "$(APP_GROUP)"])
    func aGroupThatXcodeHasNotFilledInIsRefused(_ group: String?) throws {
        var info = ["CFBundleIdentifier": "com.example.app"]
        info["PushcryptAppGroup"] = group
        let app = ContainingApp(of: try bundle("App.app", info))
        let error = #expect(throws: KeyStoreError.self) { try app.appGroupIdentifier() }
        #expect(error?.code == .missingEntitlement)
        #expect(error?.description.contains("PushcryptAppGroup") == true)
    }

    @Test func withoutBundlesTheEnvironmentNamesTheApp() async {
        await #expect(processExitsWith: .success) { try askTheEnvironment() }
    }
}

private func askTheEnvironment() throws {
    unsafe unsetenv("PUSHCRYPT_BUNDLE_ID")
    #expect(throws: KeyStoreError.self) { try ContainingApp().topic() }
    unsafe setenv("PUSHCRYPT_BUNDLE_ID", "com.example.app", 1)
    unsafe setenv("PUSHCRYPT_APP_GROUPS", "/groups", 1)
    let configuration = EncryptedNotificationService().configuration
    #expect(configuration.texts == .localized && configuration.observe != nil)
    #expect(try configuration.topic().bundleID == "com.example.app")
    #expect(try configuration.directory().path == "/groups/group.com.example.app/pushcrypt/com.example.app")
}
