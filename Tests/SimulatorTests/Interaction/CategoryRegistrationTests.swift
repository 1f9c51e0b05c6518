import DeviceSimulator
import Foundation
import PushcryptReceiver
import PushcryptService
import Testing
import UserNotifications

/// Declared categories are registered with the system.
@Suite struct CategoryRegistrationTests {
    private func declared() throws -> CategorySet {
        try CategorySet([
            CategoryDeclaration(
                "MESSAGE",
                actions: [
                    ActionDeclaration(
                        "REPLY", title: .localized(key: "REPLY_TO", arguments: ["Ann"]),
                        options: [.authenticationRequired], icon: .system("arrowshape.turn.up.left"),
                        textInput: .init(buttonTitle: "Send", placeholder: "Message")),
                    ActionDeclaration(
                        "DELETE", title: "Delete", options: [.destructive, .foreground], icon: .template("bin")),
                ], intentIdentifiers: ["INSendMessageIntent"],
                hiddenPreviewsBodyPlaceholder: .localized(key: "%u new", arguments: []),
                summaryFormat: "%u more messages",
                options: [
                    .customDismissAction, .allowInCarPlay, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle,
                ]),
            CategoryDeclaration("news"), CategoryDeclaration("LIKED", options: [.hiddenPreviewsShowSubtitle]),
        ])
    }

    @Test func everythingThatIsDeclaredIsRegistered() throws {
        let device = SimulatedDevice()
        device.app.strings = ["REPLY_TO": "Reply to %@"]
        let set = try declared()
        // The center of this device is the current one here.
        device.inProcess { set.register() }
        let expected: Set = [
            UNNotificationCategory(
                identifier: "MESSAGE",
                actions: [
                    UNTextInputNotificationAction(
                        identifier: "REPLY", title: "Reply to Ann", options: .authenticationRequired,
                        icon: UNNotificationActionIcon(systemImageName: "arrowshape.turn.up.left"),
                        textInputButtonTitle: "Send", textInputPlaceholder: "Message"),
                    UNNotificationAction(
                        identifier: "DELETE", title: "Delete", options: [.destructive, .foreground],
                        icon: UNNotificationActionIcon(templateImageName: "bin")),
                ], intentIdentifiers: ["INSendMessageIntent"], hiddenPreviewsBodyPlaceholder: "%u new",
                categorySummaryFormat: "%u more messages",
                options: [
                    .customDismissAction, .allowInCarPlay, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle,
                ]),
            UNNotificationCategory(identifier: "news", actions: [], intentIdentifiers: []),
            UNNotificationCategory(
                identifier: "LIKED", actions: [], intentIdentifiers: [], options: .hiddenPreviewsShowSubtitle),
        ]
        #expect(device.categories == expected)
    }

    @Test func aRegistrationTakesThePlaceOfTheOneBefore() throws {
        let device = SimulatedDevice()
        try declared().register(on: device.center)
        try CategorySet([CategoryDeclaration("news")]).register(on: device.center)
        #expect(device.categories.map(\.identifier) == ["news"])
    }
}
