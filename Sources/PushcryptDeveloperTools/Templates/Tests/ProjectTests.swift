import Foundation
import PushcryptApp
import XCTest

@testable import App

/// Whether the built app has what its extension needs, in a simulator or on a phone. The tests of `Linux` need neither.
nonisolated final class ProjectTests: XCTestCase {
    func testTheExtensionIsInTheAppAndFitsIt() throws {
        let plugIns = try XCTUnwrap(Bundle.main.builtInPlugInsURL)
        let appex = try XCTUnwrap(Bundle(url: plugIns.appendingPathComponent("NotificationService.appex")))
        let info = try XCTUnwrap(appex.object(forInfoDictionaryKey: "NSExtension") as? [String: Any])
        XCTAssertEqual(
            info["NSExtensionPointIdentifier"] as? String, "com.apple.usernotifications.service")
        XCTAssertEqual(
            info["NSExtensionPrincipalClass"] as? String, "NotificationService.NotificationService")
        XCTAssertFalse(((appex.object(forInfoDictionaryKey: "CFBundleDisplayName") as? String) ?? "").isEmpty)
        let shared = [
            "CFBundleShortVersionString", "CFBundleVersion", "PushcryptAppGroup", SharedKeyStore.propertyListKey,
        ]
        for key in shared {
            let value = Bundle.main.object(forInfoDictionaryKey: key) as? String
            XCTAssertNotNil(value)
            XCTAssertEqual(appex.object(forInfoDictionaryKey: key) as? String, value)
        }
    }

    func testTheKeychainGroupCanBeRead() throws {
        _ = try SharedKeyStore.open(for: try AppGroup.ofThisApp().topic).load()
    }

    func testTheAppGroupHasAFolder() throws {
        _ = try AppGroup.ofThisApp().journal()
    }
}
