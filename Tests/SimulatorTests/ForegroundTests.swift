import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// The app in the foreground decides how to present a notification.
@Suite struct ForegroundTests {
    final class Delegate: NSObject, UNUserNotificationCenterDelegate, @unchecked Sendable {
        let options: [UNNotificationPresentationOptions]
        let seen = Notebook<String>()

        init(_ options: UNNotificationPresentationOptions...) { self.options = options }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
        ) {
            seen.add("\(notification.request.content.body) \(Main.isHere)")
            #expect(center === UNUserNotificationCenter.current())
            for options in options { completionHandler(options) }
        }
    }

    private static let push = alert("body", aps: #""sound":"default","badge":4"#, collapseID: "a")
    private let device = SimulatedDevice.changing { $0.body += "!" }

    private static let cases:
        [(UNNotificationPresentationOptions, Shown.PresentationOptions, hasSound: Bool, badge: Int?)] = [
            ([.banner, .list, .sound, .badge], [.banner, .list], true, 4),
            ([.banner], .banner, false, nil), ([.list], .list, false, nil), ([.alert], [.banner, .list], false, nil),
            ([.sound], [], true, nil), ([.badge], [], false, 4),
        ]

    @Test(arguments: cases)
    func theDelegateDecides(
        _ options: UNNotificationPresentationOptions, _ places: Shown.PresentationOptions, _ hasSound: Bool,
        _ badge: Int?
    ) async throws {
        let delegate = Delegate(options)
        device.center.delegate = delegate
        device.isAppInForeground = true
        let outcome = await device.push(Self.push)
        #expect(outcome.source == .delivered)
        let shown = try #require(outcome.shown)
        #expect(shown.presentation == places)
        #expect((shown.sound != nil) == hasSound)
        #expect(shown.badge == badge)
        #expect(device.list == (places.contains(.list) ? ["a"] : []))
        #expect(delegate.seen.all == ["body! true"])
    }

    @Test func nothingIsShownWithoutADelegateOrWithoutOptions() async {
        device.isAppInForeground = true
        #expect(await device.push(Self.push).source == .nothing)
        let delegate = Delegate([])
        device.center.delegate = delegate
        #expect(await device.push(Self.push).source == .nothing)
        #expect(device.badge == 0)
    }

    @Test func theDelegateIsNotAskedInTheBackground() async {
        let delegate = Delegate([])
        device.center.delegate = delegate
        #expect(await device.push(Self.push).source == .delivered)
        #expect(delegate.seen.all.isEmpty)
    }

    @Test func theFirstAnswerCounts() async {
        let delegate = Delegate([.list], [.banner])
        device.center.delegate = delegate
        device.isAppInForeground = true
        #expect(await device.push(Self.push).shown?.presentation == .list)
    }

    @Test func nothingIsShownWhenTheDelegateNeverAnswers() async {
        let clock = SimulatedClock(patience: 0)
        let device = SimulatedDevice(clock: .simulated(clock)) { ScriptedExtension { $1($0.content) } }
        let delegate = Delegate()
        device.center.delegate = delegate
        device.isAppInForeground = true
        let outcome = await device.push(Self.push)
        #expect(outcome.source == .nothing)
        #expect(outcome.deliveries == 1)
        #expect(clock.milliseconds == 30_000)
    }
}
