import DeviceSimulator
import Foundation
import Testing
import UIKit
import UserNotifications
import UserNotificationsUI
import Waiting

/// The view of an expanded notification.
@MainActor
@Suite struct ContentExtensionTests {
    final class Controller: UIViewController, UNNotificationContentExtension {
        var events: [String] = []
        var option = UNNotificationContentExtensionResponseOption.dismissAndForwardAction
        var calls = 1

        override func viewDidLoad() { events.append("loaded") }
        override func viewWillAppear(_ animated: Bool) { events.append("appears") }
        override func viewDidDisappear(_ animated: Bool) { events.append("gone") }

        func didReceive(_ notification: UNNotification) { events.append(notification.request.content.body) }

        nonisolated func didReceive(
            _ response: UNNotificationResponse,
            completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
        ) {
            let name = response.actionIdentifier
            let (option, calls) = MainActor.assumeIsolated {
                events.append(name)
                return (self.option, self.calls)
            }
            for _ in 0..<calls { completion(option) }
        }

        nonisolated var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .overlay }
        nonisolated func mediaPlay() {
            MainActor.assumeIsolated {
                events.append("play")
                extensionContext?.mediaPlayingStarted()
            }
        }
        nonisolated func mediaPause() {
            MainActor.assumeIsolated {
                events.append("pause")
                extensionContext?.mediaPlayingPaused()
            }
        }
    }

    /// The smallest content extension.
    final class Plain: UIViewController, UNNotificationContentExtension {
        func didReceive(_ notification: UNNotification) { title = notification.request.content.title }
    }

    private let clock = stillClock()
    private let device: SimulatedDevice
    private let delegate = ResponseTests.Delegate()

    init() throws {
        device = SimulatedDevice(clock: .simulated(clock)) { ScriptedExtension { $1($0.content) } }
        device.center.delegate = delegate
        device.categories = [
            UNNotificationCategory(
                identifier: "CHAT", actions: [UNNotificationAction(identifier: "MUTE", title: "Mute")],
                intentIdentifiers: [])
        ]
        var chat = ContentExtension(categories: ["CHAT", "GROUP"]) { Controller() }
        chat.isDefaultContentHidden = true
        chat.initialContentSizeRatio = 0.5
        try device.install(chat)
        try device.install(ContentExtension(categories: ["chat"]) { Plain() })
    }

    private func show(_ body: String, category: String = "CHAT", thread: String = "t", id: String = "a") async {
        _ = await device.push(
            alert(body, aps: #""category":"\#(category)","thread-id":"\#(thread)""#, collapseID: id))
    }

    private func expand(_ id: String = "a") throws -> (ExpandedNotification, Controller) {
        let expanded = try #require(device.expand(id))
        return (expanded, try #require(expanded.viewController as? Controller))
    }

    @Test func theExtensionOfTheCategoryShowsIt() async throws {
        await show("one")
        let (expanded, controller) = try expand()
        #expect(controller.events == ["loaded", "one", "appears"])
        #expect(controller.view.frame.height == controller.view.frame.width / 2)
        #expect(!expanded.showsDefaultContent)
        #expect(expanded.actions.map(\.identifier) == ["MUTE"])
    }

    @Test func capitalsOfACategoryCount() async throws {
        await show("one", category: "chat")
        let expanded = try #require(device.expand("a"))
        #expect(expanded.viewController is Plain)
        #expect(expanded.viewController?.title == "Title")
        #expect(expanded.showsDefaultContent)
        #expect(!expanded.pressMediaButton())
    }

    @Test func aCategoryOfNoExtensionHasTheSystemsView() async throws {
        await show("one", category: "NEWS")
        let expanded = try #require(device.expand("a"))
        #expect(expanded.viewController == nil)
        #expect(expanded.showsDefaultContent)
        #expect(device.expand("b") == nil)
    }

    @Test func twoExtensionsCannotDeclareOneCategory() async {
        let conflict = #expect(throws: CategoryConflict.self) {
            try device.install(ContentExtension(categories: ["NEWS", "GROUP"]) { Plain() })
        }
        #expect(conflict?.categories == ["GROUP"])
        await show("one", category: "NEWS")
        #expect(device.expand("a")?.viewController == nil, "nothing of the second is taken")
    }

    @Test func aSecondNotificationOfTheThreadComesIntoTheView() async throws {
        await show("one")
        let (expanded, controller) = try expand()
        await show("two", category: "GROUP", id: "b")
        await show("another thread", thread: "u", id: "c")
        await show("another extension", category: "chat", id: "d")
        #expect(controller.events == ["loaded", "one", "appears", "two"])
        #expect(expanded.identifier == "b")
        expanded.close()
        await show("three", id: "e")
        #expect(controller.events == ["loaded", "one", "appears", "two", "gone"])
    }

    @Test func theMediaButtonPlaysAndPauses() async throws {
        await show("one")
        let (expanded, controller) = try expand()
        #expect(expanded.mediaButton == .overlay)
        #expect(expanded.pressMediaButton())
        #expect(expanded.isMediaPlaying)
        #expect(expanded.pressMediaButton())
        #expect(!expanded.isMediaPlaying)
        #expect(controller.events.suffix(2) == ["play", "pause"])
    }

    @Test(arguments: [
        (UNNotificationContentExtensionResponseOption.dismissAndForwardAction, nil, false),
        (.dismiss, UndeliveredReason.keptByContentExtension, false), (.doNotDismiss, .keptByContentExtension, true),
    ])
    func theExtensionHearsOfAnActionFirst(
        _ option: UNNotificationContentExtensionResponseOption, _ undelivered: UndeliveredReason?, _ staysVisible: Bool
    ) async throws {
        await show("one")
        let (expanded, controller) = try expand()
        controller.option = option
        let outcome = await expanded.respond(.choose("MUTE"))
        #expect(controller.events.contains("MUTE"))
        #expect(outcome.undelivered == undelivered)
        #expect(outcome.completions == (undelivered == nil ? 1 : 0))
        #expect(delegate.seen.all.count == (undelivered == nil ? 1 : 0))
        #expect(expanded.isVisible == staysVisible)
    }

    @Test func withoutAnAnswerOfTheExtensionTheAppHearsOfIt() async throws {
        await show("one")
        let (expanded, controller) = try expand()
        controller.calls = 0
        async let outcome = expanded.respond(.choose("MUTE"))
        #expect(await eventually { controller.events.contains("MUTE") })
        await allTurns()
        clock.advance(by: 30)
        #expect(await outcome.completions == 1)
    }

    @Test func theExtensionMayChangeTheActions() async throws {
        await show("one")
        let (expanded, controller) = try expand()
        controller.extensionContext?.notificationActions = []
        #expect(await expanded.respond(.choose("MUTE")).undelivered == .notOffered)
        #expect(!controller.events.contains("MUTE"))

        let (again, other) = try expand()
        other.extensionContext?.notificationActions = [UNNotificationAction(identifier: "PLAY", title: "Play")]
        #expect(await again.respond(.choose("PLAY")) == ResponseOutcome(completions: 1))
        #expect(other.events.contains("PLAY"))
        #expect(delegate.seen.all == ["PLAY on one true"])
    }

    @Test func theExtensionMayOpenTheAppOrCloseItself() async throws {
        await show("one")
        let (first, controller) = try expand()
        controller.extensionContext?.dismissNotificationContentExtension()
        #expect(await first.carryOutRequests() == nil)
        #expect(!first.isVisible)
        #expect(delegate.seen.all.isEmpty)

        let (second, again) = try expand()
        again.extensionContext?.performNotificationDefaultAction()
        #expect(await second.carryOutRequests() == ResponseOutcome(completions: 1, opensApp: true))
        #expect(delegate.seen.all == ["com.apple.UNNotificationDefaultActionIdentifier on one true"])
        #expect(await second.carryOutRequests() == nil)
    }
}
