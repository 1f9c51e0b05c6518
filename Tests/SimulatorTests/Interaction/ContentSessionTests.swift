import DeviceSimulator
import Foundation
import PushcryptReceiver
import TestPhone
import Testing
import UIKit
import UserNotifications
import UserNotificationsUI
import Waiting

@testable import PushcryptService
@testable import Simulated

/// The view of an expanded notification, based on a session.
@MainActor
@Suite struct ContentSessionTests {
    final class Controller: UIViewController, @preconcurrency UNNotificationContentExtension {
        let session: ContentExtensionSession
        let decide: @MainActor @Sendable (ReceivedResponse) async throws -> ContentExtensionSession.Answer
        var asked: [ReceivedResponse] = []
        var player: [String] = []
        var plays = true
        lazy var media = MediaPlayback(
            start: { [weak self] in
                self?.player.append("start")
                return self?.plays ?? false
            }, stop: { [weak self] in self?.player.append("stop") },
            started: { [weak self] in self?.extensionContext?.mediaPlayingStarted() },
            paused: { [weak self] in self?.extensionContext?.mediaPlayingPaused() })

        init(
            _ session: ContentExtensionSession,
            decide: @escaping @MainActor @Sendable (ReceivedResponse) async throws -> ContentExtensionSession.Answer
        ) {
            self.session = session
            self.decide = decide
            super.init(nibName: nil, bundle: nil)
        }

        required init?(coder: NSCoder) { nil }

        func didReceive(_ notification: UNNotification) { session.receive(notification) }

        func didReceive(
            _ response: UNNotificationResponse,
            completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
        ) {
            session.answer(response) {
                completion(.init(rawValue: $0.rawValue) ?? .dismissAndForwardAction)
            } by: { [self] in
                asked.append($0)
                return try await decide($0)
            }
        }

        var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .overlay }
        func mediaPlay() { media.play() }
        func mediaPause() { media.pause() }
    }

    private let app: RespondingPhone
    private var shared: SharedAttachments { SharedAttachments(directory: app.phone.directory) }

    init() throws { app = try RespondingPhone() }

    private func install(
        decide: @escaping @MainActor @Sendable (ReceivedResponse) async throws -> ContentExtensionSession.Answer = {
            _ in .dismissAndForward
        }
    ) throws {
        let (shared, clock) = (shared, app.clock)
        try app.device.install(
            ContentExtension(categories: ["CHAT"]) {
                Controller(ContentExtensionSession(sharedAttachments: shared, clock: clock), decide: decide)
            })
    }

    private func expand(_ id: String = "a") throws -> (ExpandedNotification, Controller) {
        let expanded = try #require(app.device.expand(id))
        return (expanded, try #require(expanded.viewController as? Controller))
    }

    private func show(_ body: String, as id: String) async throws {
        let payload =
            #"{"aps":{"alert":{"title":"Ann","subtitle":"Rome","body":"\#(body)"},"category":"CHAT","thread-id":"t"},"chat":"c41"}"#
        _ = await app.device.push(APNsPush(try app.phone.seal(payload), collapseID: id))
    }

    // MARK: Content

    @Test func theOpenedNotificationIsShown() async throws {
        try install()
        try await show("one", as: "a")
        let (_, controller) = try expand()
        let shown = try #require(controller.session.notifications.first)
        #expect(controller.session.notifications.count == 1)
        #expect([shown.title, shown.subtitle, shown.body] == ["Ann", "Rome", "one"])
        #expect(shown.isAuthentic)
        #expect(shown.identifier == "a")
        #expect(shown.categoryIdentifier == "CHAT")
        #expect(shown.customKeys as? [String: String] == ["chat": "c41"])
        #expect(shown.attachments.isEmpty)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":{"title":"Bank","body":"Pay?"},"category":"CHAT"},"chat":"forged"}"#, "", "(Encrypted)"),
        (
            #"{"aps":{"alert":{"title":"Bank","body":"Pay?"},"category":"CHAT"},"ENCRYPTED_DATA":"x","chat":"forged"}"#,
            "(Encrypted)", ""
        ),
        (#"{"aps":{"alert":{"title":"Bank\nPay","body":"Pay?"},"category":"CHAT"}}"#, "", "(Encrypted)"),
    ])
    func whatWasNotOpenedShowsTheFallback(_ push: String, _ subtitle: String, _ body: String) async throws {
        try install { _ in .stay }
        // Without `mutable-content` the service extension does not run.
        _ = await app.device.push(APNsPush(json: push, collapseID: "a"))
        let (expanded, controller) = try expand()
        let shown = try #require(controller.session.notifications.first)
        #expect(
            [shown.title, shown.subtitle, shown.body] == [push.contains("\\n") ? "Bank Pay" : "Bank", subtitle, body])
        #expect(!shown.isAuthentic)
        #expect(shown.customKeys.isEmpty)
        #expect(shown.categoryIdentifier == "")

        // The app gets the response, without keys; the view does not decide.
        #expect(await expanded.respond(.choose("MUTE")).completions == 1)
        #expect(controller.asked.isEmpty)
        #expect(app.received.all.count == 1)
        #expect(app.received.all.first?.unknown != nil)
    }

    @Test func aSecondNotificationComesBesideTheFirstAndARetryInItsPlace() async throws {
        try install()
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        app.clock.advance(by: 1)
        try await show("two", as: "b")
        #expect(controller.session.notifications.map(\.body) == ["one", "two"])
        app.clock.advance(by: 1)
        try await show("one, corrected", as: "a")
        #expect(controller.session.notifications.map(\.body) == ["two", "one, corrected"])
        #expect(expanded.identifier == "a")
    }

    @Test func whatCameEarlierIsShownEarlier() async throws {
        let session = ContentExtensionSession()
        try await show("late", as: "b")
        app.clock.advance(by: 5)
        try await show("later", as: "c")
        let center = Handed(app.device.center)
        let delivered = await Task.detached { Handed(await center.value.deliveredNotifications()) }.value
        for notification in delivered.value.reversed() { session.receive(notification) }
        #expect(session.notifications.map(\.body) == ["late", "later"])
    }

    // MARK: Attachments

    private func picture(_ name: String) throws -> URL {
        let file = app.phone.folder.appendingPathComponent(name)
        try Data([1, 2, 3]).write(to: file)
        return file
    }

    private func shown(_ members: [String: Any], attachments: [URL]) throws -> ShownNotification {
        let content = UNMutableNotificationContent()
        content.userInfo = members
        content.attachments = try attachments.map { try UNNotificationAttachment(identifier: "", url: $0) }
        let request = UNNotificationRequest(identifier: "a", content: content, trigger: nil)
        let session = ContentExtensionSession(sharedAttachments: shared)
        return session.receive(UNNotification(date: Date(), request: request))
    }

    @Test func theFilesInTheAppGroupAreShown() throws {
        let (photo, plan) = (try picture("photo.png"), try picture("plan.pdf"))
        try shared.share([photo, plan], for: "a")
        let files = try shown([:], attachments: [photo]).attachments
        #expect(files.map(\.lastPathComponent) == ["photo.png", "plan.pdf"])
        #expect(files == shared.files(of: UNNotificationRequest(identifier: "a", content: .init(), trigger: nil)))
    }

    @Test func withoutThemTheSystemsAreShown() throws {
        let photo = try picture("photo.png")
        #expect(try shown([:], attachments: [photo]).attachments == [photo])
    }

    @Test func aForgedPushDoesNotGetTheFilesOfAnotherUnderItsIdentifier() throws {
        let photo = try picture("photo.png")
        try shared.share([photo], for: "a")
        #expect(try shown(["aps": ["alert": "x"]], attachments: [photo]).attachments.isEmpty)
    }

    // MARK: Responses

    @Test(arguments: [
        (ContentExtensionSession.Answer.stay, true, 0), (.dismiss, false, 0), (.dismissAndForward, false, 1),
    ])
    func theViewAnswers(_ answer: ContentExtensionSession.Answer, _ stays: Bool, _ forwarded: Int) async throws {
        try install { _ in answer }
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        let outcome = await expanded.respond(.write("Hello", action: "REPLY"))
        #expect(controller.asked.map(\.value.userText) == ["Hello"])
        #expect(controller.asked.first?.value.customKeys as? [String: String] == ["chat": "c41"])
        #expect(expanded.isVisible == stays)
        #expect(outcome.completions == forwarded)
        #expect(app.received.all.count == forwarded)
    }

    private struct Thrown: Error {}

    @Test func aViewThatThrowsLeavesTheResponseToTheApp() async throws {
        try install { _ in throw Thrown() }
        try await show("one", as: "a")
        let (expanded, _) = try expand()
        #expect(await expanded.respond(.choose("MUTE")).completions == 1)
        #expect(app.keys == [["chat": "c41"]])
    }

    @Test func aViewThatHangsLeavesTheResponseToTheApp() async throws {
        let gate = Gate()
        try install { _ in
            await gate.waitUntilOpen()
            return .stay
        }
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        async let outcome = expanded.respond(.choose("MUTE"))
        #expect(await eventually { !controller.asked.isEmpty })
        app.clock.advance(by: 5)
        #expect(await outcome.completions == 1)
        #expect(app.keys == [["chat": "c41"]])
        gate.open()
    }

    // MARK: Media

    @Test func buttonAndPlayerKeepInStep() async throws {
        try install()
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        for _ in 0..<2 {
            expanded.pressMediaButton()
            #expect(expanded.isMediaPlaying && controller.media.isPlaying)
            // A button in the view repeats the call.
            controller.media.play()
            expanded.pressMediaButton()
            #expect(!expanded.isMediaPlaying && !controller.media.isPlaying)
            controller.media.pause()
        }
        #expect(controller.player == ["start", "stop", "start", "stop"])
    }

    @Test func mediaThatEndByThemselvesCanBePlayedAgain() async throws {
        try install()
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        expanded.pressMediaButton()
        controller.media.ended()
        #expect(!expanded.isMediaPlaying)
        controller.media.ended()
        expanded.pressMediaButton()
        #expect(expanded.isMediaPlaying)
        #expect(controller.player == ["start", "start"])
    }

    @Test func mediaThatDoNotPlayLeaveTheButtonAsItWas() async throws {
        try install()
        try await show("one", as: "a")
        let (expanded, controller) = try expand()
        controller.plays = false
        expanded.pressMediaButton()
        #expect(!expanded.isMediaPlaying)
        #expect(!controller.media.isPlaying)
        controller.media.pause()
        #expect(controller.player == ["start"])
    }

    @Test func theSystemHearsOfEachChangeOnce() {
        var told: [String] = []
        let media = MediaPlayback(
            start: { true }, stop: {}, started: { told.append("started") }, paused: { told.append("paused") })
        media.pause()
        media.ended()
        media.play()
        media.play()
        media.pause()
        media.ended()
        #expect(told == ["started", "paused"])
    }
}
