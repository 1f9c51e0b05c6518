import Foundation
import Testing
import UIKit
import UserNotifications
import UserNotificationsUI

@testable import NotificationSamples

/// Typical content extensions, driven by hand.
@MainActor
@Suite struct ContentExtensionTests {
    private let context = NotificationExtensionContext(
        actions: [UNNotificationAction(identifier: "ACCEPT", title: "Accept")])

    private func shown() -> ParcelViewController {
        let controller = ParcelViewController()
        controller.extensionContext = context
        controller.loadViewIfNeeded()
        return controller
    }

    private func answer(
        _ controller: any UNNotificationContentExtension, _ response: UNNotificationResponse
    ) async -> UNNotificationContentExtensionResponseOption {
        await withCheckedContinuation { continuation in
            controller.didReceive(response) { continuation.resume(returning: $0) }
        }
    }

    @Test func labelsShowTheNotificationAndThenTheNextOne() throws {
        let controller = shown()
        controller.didReceive(.pushed(.push(title: "Parcel", body: "at the door")))
        #expect(controller.headline.text == "Parcel" && controller.details.text == "at the door")
        controller.didReceive(.pushed(.push(title: "Parcel", body: "with Bob")))
        #expect(controller.details.text == "with Bob" && controller.shown == 2)
        #expect(controller.preferredContentSize == CGSize(width: 320, height: 200))
    }

    @Test func thePictureIsReadFromTheAttachment() throws {
        let scratch = try Scratch()
        let content = UNMutableNotificationContent()
        content.attachments = [try UNNotificationAttachment(identifier: "a", url: scratch.file("a.png"))]
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        let controller = shown()
        controller.didReceive(.pushed(request))
        #expect(controller.picture.image?.data == Data("8 bytes.".utf8))
    }

    @Test func theViewIsLoadedOnceAndHoldsTheViewsInOrder() throws {
        let controller = ParcelViewController()
        #expect(!controller.isViewLoaded && controller.viewIfLoaded == nil)
        let view = controller.view
        controller.loadViewIfNeeded()
        #expect(controller.view === view)
        let stack = try #require(controller.view.subviews.first as? UIStackView)
        #expect(controller.view.subviews.count == 1 && stack.superview === controller.view)
        #expect(
            stack.arrangedSubviews == [controller.headline, controller.details, controller.picture, controller.track])
        #expect(stack.axis == .vertical && controller.details.numberOfLines == 0)
    }

    @Test func mediaAreReportedToTheSystem() {
        let controller = shown()
        let seen: any UNNotificationContentExtension = controller
        #expect(seen.mediaPlayPauseButtonType == .overlay)
        #expect(seen.mediaPlayPauseButtonFrame == CGRect(x: 138, y: 100, width: 44, height: 44))
        seen.mediaPlay()
        #expect(context.isMediaPlaying)
        seen.mediaPause()
        #expect(!context.isMediaPlaying)
    }

    @Test func aButtonAsksTheSystemToOpenTheApp() {
        let controller = shown()
        controller.track.sendActions(for: .valueChanged)
        #expect(context.requests == [])
        controller.track.sendActions(for: .touchUpInside)
        #expect(context.requests == [.defaultAction])
        controller.extensionContext?.dismissNotificationContentExtension()
        #expect(context.requests == [.defaultAction, .dismiss])
        #expect(controller.track.title(for: .normal) == "Track")
    }

    @Test func theActionsCanBeReplaced() {
        let controller = shown()
        #expect(controller.extensionContext?.notificationActions.map(\.identifier) == ["ACCEPT"])
        controller.extensionContext?.notificationActions = []
        #expect(context.actions.isEmpty)
    }

    @Test func aResponseStaysGoesOrIsForwarded() async {
        let controller = shown()
        let notification = UNNotification.pushed(.push())
        let text = UNTextInputNotificationResponse(
            notification: notification, actionIdentifier: "NOTE", userText: "ring")
        #expect(await answer(controller, text) == .doNotDismiss)
        #expect(controller.details.text == "ring")
        let later = UNNotificationResponse(notification: notification, actionIdentifier: "LATER")
        #expect(await answer(controller, later) == .dismiss)
        let accept = UNNotificationResponse(notification: notification, actionIdentifier: "ACCEPT")
        #expect(await answer(controller, accept) == .dismissAndForwardAction)
    }

    @Test func whatIsLeftOutIsWhatTheSystemDoes() async {
        let controller = PlainViewController()
        let seen: any UNNotificationContentExtension = controller
        seen.didReceive(.pushed(.push(title: "Parcel")))
        #expect(controller.title == "Parcel")
        #expect(seen.mediaPlayPauseButtonType == .none && seen.mediaPlayPauseButtonFrame == .zero)
        seen.mediaPlay()
        let response = UNNotificationResponse(notification: .pushed(.push()), actionIdentifier: "ACCEPT")
        #expect(await answer(seen, response) == .dismissAndForwardAction)
        #expect(controller.extensionContext == nil)
    }

    @Test func theFormWithAHandlerReachesAnAsynchronousOne() async {
        let controller = AsyncViewController()
        let response = UNNotificationResponse(notification: .pushed(.push()), actionIdentifier: "LATER")
        #expect(await answer(controller, response) == .dismiss)
        #expect(controller.title == "LATER")
    }
}
