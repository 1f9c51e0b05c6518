import DeviceSimulator
import Testing
import UIKit

@testable import App
@testable import NotificationContent

// The texts that a user sees in an expanded notification.
extension NotificationTests {
    private static let payload =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"category":"MESSAGE"}}"#

    /// The texts of the view, from the top.
    private func expand(_ push: String) async throws -> [String?]? {
        try NotificationCategories.declared.register(on: device.center)
        try device.install(
            ContentExtension(categories: ["MESSAGE"]) { NotificationViewController() })
        let outcome = await device.push(APNsPush(json: push))
        let expanded = try #require(device.expand(outcome.requestIdentifier))
        let stack = expanded.viewController?.view.subviews.first as? UIStackView
        return stack?.arrangedSubviews.compactMap { $0 as? UILabel }.map(\.text)
    }

    @Test func theViewShowsWhatWasSealed() async throws {
        try await launch()
        #expect(try await expand(provider.push(Self.payload)) == ["Table for two", "", "See you at 8"])
    }

    /// The system does not start the extension for a push without `mutable-content`.
    @Test func theViewOfAForgedPushSaysThatItIsNotEncrypted() async throws {
        #expect(try await expand(Self.payload) == ["Table for two", "", "(Encrypted)"])
    }
}
