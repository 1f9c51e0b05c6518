import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// The user's actions on a notification, and the responses that the app gets.
@Suite struct ResponseTests {
    final class Delegate: NSObject, UNUserNotificationCenterDelegate, @unchecked Sendable {
        let completions: Int
        let seen = Notebook<String>()

        init(completions: Int = 1) { self.completions = completions }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping @Sendable () -> Void
        ) {
            let text = (response as? UNTextInputNotificationResponse).map { ": \($0.userText)" } ?? ""
            let body = response.notification.request.content.body
            seen.add("\(response.actionIdentifier)\(text) on \(body) \(Main.isHere)")
            for _ in 0..<completions { completionHandler() }
        }
    }

    private let clock = stillClock()
    private let device: SimulatedDevice
    private let delegate = Delegate()

    init() {
        device = Self.device(clock)
        device.center.delegate = delegate
    }

    private static func device(_ clock: SimulatedClock) -> SimulatedDevice {
        let device = SimulatedDevice(clock: .simulated(clock)) { ScriptedExtension { $1($0.content) } }
        device.inProcess {
            UNUserNotificationCenter.current().setNotificationCategories([
                UNNotificationCategory(
                    identifier: "CHAT",
                    actions: [
                        UNTextInputNotificationAction(
                            identifier: "REPLY", title: "Reply", options: [], textInputButtonTitle: "Send",
                            textInputPlaceholder: "Message"),
                        UNNotificationAction(identifier: "MUTE", title: "Mute"),
                        UNNotificationAction(identifier: "SHOW", title: "Show", options: .foreground),
                        UNNotificationAction(identifier: "DELETE", title: "Delete", options: .authenticationRequired),
                    ], intentIdentifiers: [], options: .customDismissAction),
                UNNotificationCategory(
                    identifier: "NEWS", actions: [UNNotificationAction(identifier: "MUTE", title: "Mute")],
                    intentIdentifiers: []),
            ])
        }
        return device
    }

    private func show(_ category: String = "CHAT", on other: SimulatedDevice? = nil) async {
        _ = await (other ?? device).push(alert("Hello", aps: #""category":"\#(category)""#, collapseID: "a"))
    }

    @Test func theActionsAreThoseOfTheCategory() async {
        await show()
        #expect(device.actions(of: "a").map(\.identifier) == ["REPLY", "MUTE", "SHOW", "DELETE"])
        #expect(device.actions(of: "a").first is UNTextInputNotificationAction)
        await show("chat")
        #expect(device.actions(of: "a").isEmpty)
        #expect(device.actions(of: "b").isEmpty)
    }

    private static let responses: [(action: UserAction, heard: String, opensApp: Bool)] = [
        (.tap, "com.apple.UNNotificationDefaultActionIdentifier", true),
        (.dismiss, "com.apple.UNNotificationDismissActionIdentifier", false),
        (.choose("MUTE"), "MUTE", false), (.choose("SHOW"), "SHOW", true), (.choose("DELETE"), "DELETE", false),
        (.write("On my way 🚲", action: "REPLY"), "REPLY: On my way 🚲", false),
    ]

    @Test(arguments: responses)
    func theAppHearsOfIt(_ response: (action: UserAction, heard: String, opensApp: Bool)) async {
        await show()
        let outcome = await device.respond(response.action, to: "a")
        #expect(outcome == ResponseOutcome(completions: 1, opensApp: response.opensApp))
        #expect(delegate.seen.all == ["\(response.heard) on Hello true"])
        #expect(device.list.isEmpty)
        #expect(device.isAppInForeground == response.opensApp)
        #expect(clock.milliseconds == 0)
    }

    private static let undelivered: [(action: UserAction, category: String, reason: UndeliveredReason)] = [
        (.dismiss, "NEWS", .dismissNotReported), (.dismiss, "news", .dismissNotReported),
        (.choose("SHOW"), "NEWS", .notOffered), (.choose("mute"), "NEWS", .notOffered),
        (.choose("MUTE"), "news", .notOffered), (.write("x", action: "MUTE"), "CHAT", .noTextInput),
        (.choose("REPLY"), "CHAT", .noTextInput),
    ]

    @Test(arguments: undelivered)
    func theAppDoesNotHearOfIt(_ response: (action: UserAction, category: String, reason: UndeliveredReason)) async {
        await show(response.category)
        #expect(await device.respond(response.action, to: "a") == ResponseOutcome(undelivered: response.reason))
        #expect(delegate.seen.all.isEmpty)
        // An unreported dismissal is still a dismissal.
        #expect(device.list == (response.action == .dismiss ? [] : ["a"]))
    }

    @Test func whatIsNotInTheListHasNoResponse() async {
        #expect(await device.respond(.tap, to: "a").undelivered == .notListed)
    }

    @Test func anAppWithoutADelegateHearsNothing() async {
        await show()
        device.center.delegate = nil
        #expect(await device.respond(.tap, to: "a").undelivered == .noDelegate)
    }

    @Test(arguments: [
        (UserAction.tap, true), (.choose("SHOW"), true), (.choose("DELETE"), true), (.choose("MUTE"), false),
        (.write("x", action: "REPLY"), false), (.dismiss, false),
    ])
    func aLockedDeviceAsksForThePasscodeFirst(_ action: UserAction, _ isAsked: Bool) async {
        device.lockState = .locked
        await show()
        #expect(await device.respond(action, to: "a").undelivered == (isAsked ? .locked : nil))
        #expect(device.list == (isAsked ? ["a"] : []))
        device.lockState = .unlocked
        if isAsked { #expect(await device.respond(action, to: "a").undelivered == nil) }
    }

    @Test func theCallsOfTheCompletionHandlerAreCounted() async {
        let delegate = Delegate(completions: 2)
        device.center.delegate = delegate
        await show()
        #expect(await device.respond(.tap, to: "a").completions == 2)
        #expect(clock.milliseconds == 0)
    }

    @Test func neverCallingTheCompletionHandlerUsesTheAppsWholeTime() async {
        let clock = SimulatedClock(patience: 0)
        let (device, delegate) = (Self.device(clock), Delegate(completions: 0))
        device.center.delegate = delegate
        await show(on: device)
        #expect(await device.respond(.tap, to: "a").completions == 0)
        #expect(clock.milliseconds == 30_000)
    }

    @Test func everyReasonIsTriedHere() {
        let others: [UndeliveredReason] = [.notListed, .noDelegate, .locked, .keptByContentExtension]
        #expect(Set(Self.undelivered.map(\.reason)).union(others) == Set(UndeliveredReason.allCases))
    }
}
