import Foundation
import Testing
import UserNotifications

@Suite struct CenterTests {
    let center = UNUserNotificationCenter()

    @Test func thePersonIsAskedOnceAndTheAnswerStays() async throws {
        #expect(await center.notificationSettings().authorizationStatus == .notDetermined)
        center.authorizationAnswer = false
        #expect(try await !center.requestAuthorization(options: [.alert, .sound]))
        center.authorizationAnswer = true
        #expect(try await !center.requestAuthorization(options: [.alert]))
        let settings = await center.notificationSettings()
        #expect(settings.authorizationStatus == .denied)
        #expect(settings.alertSetting == .disabled && settings.soundSetting == .disabled)
        #expect(settings.badgeSetting == .notSupported)
    }

    @Test func provisionalPermissionNeedsNoAnswer() async throws {
        center.authorizationAnswer = false
        #expect(try await center.requestAuthorization(options: [.alert, .provisional]))
        #expect(await center.notificationSettings().authorizationStatus == .provisional)
    }

    @Test func handlersHearTheSameAsAsyncCallersAndFindThisCenter() async throws {
        let center = center
        center.settingValues.showPreviews = .never
        let granted = await withCheckedContinuation { continuation in
            center.requestAuthorization(options: .alert) { granted, error in
                let isCurrent = UNUserNotificationCenter.current().settingValues.showPreviews == .never
                continuation.resume(returning: granted && error == nil && isCurrent)
            }
        }
        #expect(granted)
        let previews = await withCheckedContinuation { continuation in
            center.getNotificationSettings { continuation.resume(returning: $0.showPreviewsSetting) }
        }
        #expect(previews == .never)
    }

    @Test func withoutPermissionNothingIsDelivered() async throws {
        let error = await #expect(throws: UNError.self) { try await center.add(.push()) }
        #expect(error?.code == .notificationsNotAllowed)
        #expect(center.deliveredNow.isEmpty)
    }

    /// Of what JSON has, that is null.
    @Test(arguments: [#"{"a":null}"#, #"{"a":{"b":[1,null]}}"#])
    func aUserInfoThatIsNoPropertyListIsRefused(_ json: String) async throws {
        _ = try await center.requestAuthorization(options: .alert)
        let userInfo = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let error = await #expect(throws: UNError.self) {
            try await center.add(.push("a", userInfo: try #require(userInfo)))
        }
        #expect(error?.code == .notificationInvalidNoContent)
        #expect(center.deliveredNow.isEmpty)
        let taken: [String: Any] = ["a": ["b": [1, "two", true], "c": Data([1]), "d": Date()]]
        try await center.add(.push("a", userInfo: taken))
        #expect(center.deliveredNow.count == 1)
    }

    @Test func aLaterRequestOfTheSameNameReplaces() async throws {
        _ = try await center.requestAuthorization(options: .alert)
        try await center.add(.push("a", title: "first"))
        try await center.add(.push("b", title: "other"))
        try await center.add(.push("a", title: "second"))
        #expect(await center.deliveredNotifications().map(\.request.content.title) == ["other", "second"])
        center.removeDeliveredNotifications(withIdentifiers: ["b", "unknown"])
        #expect(center.deliveredNow.map(\.request.identifier) == ["a"])
        center.removeAllDeliveredNotifications()
        #expect(center.deliveredNow.isEmpty)
    }

    @Test func theBadgeIsNeverNegative() async throws {
        try await center.setBadgeCount(2)
        let error = await #expect(throws: UNError.self) { try await center.setBadgeCount(-1) }
        #expect(error?.code == .badgeInputInvalid)
        #expect(center.badgeCount == 2)
    }

    @Test func declaringCategoriesReplacesAll() async {
        let first = UNNotificationCategory(identifier: "1", actions: [], intentIdentifiers: [])
        let second = UNNotificationCategory(identifier: "2", actions: [], intentIdentifiers: [])
        center.setNotificationCategories([first])
        center.setNotificationCategories([second])
        #expect(await center.notificationCategories() == [second])
    }

    @Test func theProcessHasOneCenterAndACallMayHaveAnother() {
        #expect(UNUserNotificationCenter.current() === UNUserNotificationCenter.current())
        UNUserNotificationCenter.withCurrent(center) {
            #expect(UNUserNotificationCenter.current() === center)
        }
        #expect(UNUserNotificationCenter.current() !== center)
    }

    @Test func theDelegateIsNotKeptAlive() {
        final class App: NSObject, UNUserNotificationCenterDelegate {}
        var app: App? = App()
        center.delegate = app
        #expect(center.delegate === app)
        app = nil
        #expect(center.delegate == nil)
    }

    @Test(
        arguments: [
            ("%@ wrote", ["Ann"], "Ann wrote"), ("%2$@ to %1$@", ["Ann", "Bob"], "Bob to Ann"),
            ("%@ and %@", ["Ann"], "Ann and %@"), ("100%% %@", ["sure"], "100% sure"), ("%3$@", ["Ann"], "%3$@"),
            ("%0$@", ["Ann"], "%0$@"), ("50% of %@", ["it"], "50% of it"),
            ("%99999999999999999999$@", ["Ann"], "%99999999999999999999$@"),
            ("plain", ["Ann"], "plain"), ("ends in %", [], "ends in %"),
            ("%@", ["%@"], "%@"),
        ] as [(String, [String], String)])
    func placeholdersTakeTheirArguments(format: String, arguments: [String], text: String) {
        center.strings = ["KEY": format]
        UNUserNotificationCenter.withCurrent(center) {
            #expect(NSString.localizedUserNotificationString(forKey: "KEY", arguments: arguments) == text)
        }
    }

    @Test func argumentsNeedNotBeStrings() {
        center.strings = ["KEY": "%@, %@ and %@"]
        let ann: String? = "Ann"
        UNUserNotificationCenter.withCurrent(center) {
            let text = NSString.localizedUserNotificationString(forKey: "KEY", arguments: [ann as Any, 3, NSNull()])
            #expect(text == "Ann, 3 and <null>")
        }
    }

    @Test func aKeyWithoutTextIsItsOwnText() {
        UNUserNotificationCenter.withCurrent(center) {
            #expect(NSString.localizedUserNotificationString(forKey: "MISSING", arguments: nil) == "MISSING")
        }
    }
}
