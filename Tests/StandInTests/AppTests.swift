import Foundation
import Testing
import UIKit
import UserNotifications

@testable import NotificationSamples

/// Typical app code, driven by hand.
@MainActor
@Suite(.serialized) struct AppTests {
    private let app = ParcelApp()
    private let center = UNUserNotificationCenter()
    private let parcel = UNNotification.pushed(.push(category: "PARCEL", userInfo: ["PARCEL_ID": "7"]))

    private func launch() {
        UNUserNotificationCenter.withCurrent(center) {
            #expect(app.application(.shared, didFinishLaunchingWithOptions: nil))
        }
    }

    @Test func launchingDeclaresCategoriesAndDelegate() throws {
        launch()
        #expect(center.delegate === app)
        let category = try #require(center.categories.first)
        #expect(category.identifier == "PARCEL" && category.actions.map(\.identifier) == ["ACCEPT", "LATER", "NOTE"])
        #expect(category.hiddenPreviewsBodyPlaceholder == "A parcel")
        #expect(category.categorySummaryFormat == "%u more parcels")
        #expect(category.options == [.customDismissAction, .hiddenPreviewsShowTitle])
        #expect(category.actions[1].options == .authenticationRequired && category.actions[1].icon?.name == "clock")
        let note = try #require(category.actions[2] as? UNTextInputNotificationAction)
        #expect(note.textInputButtonTitle == "Send" && note.textInputPlaceholder == "For the courier")
    }

    @Test func permissionLeadsToATokenOrAnError() async throws {
        let application = UIApplication.shared
        application.delegate = app
        await withCheckedContinuation { continuation in
            application.onRegister = { application in
                application.finishRegistration(deviceToken: Data([0, 0x7f, 0xff]))
                continuation.resume()
            }
            launch()
        }
        application.onRegister = nil
        #expect(app.token == "007fff")
        #expect(application.isRegisteredForRemoteNotifications)
        application.failRegistration(UNError(.notificationsNotAllowed))
        #expect((app.registrationError as? UNError)?.code == .notificationsNotAllowed)
        application.unregisterForRemoteNotifications()
        #expect(!application.isRegisteredForRemoteNotifications)
    }

    @Test(
        arguments: [
            ("ACCEPT", "accept 7"), ("LATER", "LATER 7"), ("com.apple.UNNotificationDefaultActionIdentifier", "open 7"),
            ("com.apple.UNNotificationDismissActionIdentifier", "dismiss 7"),
        ])
    func theResponseHandlerTellsActionsApart(action: String, entry: String) {
        let calls = Record<Void>()
        let delegate: any UNUserNotificationCenterDelegate = app
        delegate.userNotificationCenter(
            center, didReceive: UNNotificationResponse(notification: parcel, actionIdentifier: action)
        ) { calls.add(()) }
        #expect(app.log == [entry])
        #expect(calls.values.count == 1)
    }

    @Test func textInputReachesTheApp() {
        let response = UNTextInputNotificationResponse(
            notification: parcel, actionIdentifier: "NOTE", userText: "ring twice")
        app.userNotificationCenter(center, didReceive: response) {}
        #expect(app.log == ["note for 7: ring twice"])
    }

    @Test func theAppDecidesWhatIsShownInTheForeground() {
        let options = Record<UNNotificationPresentationOptions>()
        let delegate: any UNUserNotificationCenterDelegate = app
        delegate.userNotificationCenter(center, willPresent: parcel) { options.add($0) }
        delegate.userNotificationCenter(center, willPresent: .pushed(.push(category: "OTHER"))) { options.add($0) }
        #expect(options.values == [[.banner, .list, .sound], []])
    }

    @Test func whatIsLeftOutIsWhatTheSystemDoes() async {
        let silent = SilentApp()
        let accept = UNNotificationResponse(notification: parcel, actionIdentifier: "ACCEPT")
        #expect(await presentation(by: silent) == [])
        await respond(silent, accept)
        #expect(await fetch(by: silent, [:]) == .noData)
        let application: any UIApplicationDelegate = silent
        #expect(application.application(.shared, didFinishLaunchingWithOptions: nil))
    }

    @Test func theFormsWithHandlersReachAsynchronousOnes() async {
        let delegate = AsyncDelegate()
        #expect(await presentation(by: delegate) == [.banner, .badge])
        await respond(delegate, UNNotificationResponse(notification: parcel, actionIdentifier: "ACCEPT"))
        #expect(delegate.log == ["ACCEPT"])
        #expect(await fetch(by: AsyncApp(), ["a": 1]) == .newData)
    }

    // The system knows only that the app has a delegate.

    private func presentation(
        by delegate: any UNUserNotificationCenterDelegate
    ) async -> UNNotificationPresentationOptions {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(center, willPresent: parcel) { continuation.resume(returning: $0) }
        }
    }

    private func respond(_ delegate: any UNUserNotificationCenterDelegate, _ response: UNNotificationResponse) async {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(center, didReceive: response) { continuation.resume() }
        }
    }

    private func fetch(by delegate: any UIApplicationDelegate, _ userInfo: [String: Int]) async
        -> UIBackgroundFetchResult
    {
        await withCheckedContinuation { continuation in
            delegate.application(.shared, didReceiveRemoteNotification: userInfo) { continuation.resume(returning: $0) }
        }
    }
}
