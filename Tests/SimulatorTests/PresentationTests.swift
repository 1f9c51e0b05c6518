import DeviceSimulator
import Testing
import UserNotifications

/// The visible and audible presentation, by settings and lock state.
@Suite struct PresentationTests {
    private let device = SimulatedDevice.changing()

    private func declare(_ categories: UNNotificationCategory...) {
        device.inProcess { UNUserNotificationCenter.current().setNotificationCategories(Set(categories)) }
    }

    @Test func anUnlockedDeviceShowsABanner() async throws {
        let shown = try #require(await device.push(alert("body", aps: #""sound":"default","badge":4"#)).shown)
        #expect([shown.title, shown.subtitle, shown.body] == ["Title", "Sub", "body"])
        #expect(shown.presentation == [.banner, .list])
        #expect(shown.sound == .standard)
        #expect(shown.badge == 4)
        #expect(device.badge == 4)
        #expect(shown.interruption == .active)
        #expect(!shown.isPreviewHidden)
    }

    @Test(arguments: [SimulatedDevice.LockState.locked, .beforeFirstUnlock])
    func aLockedDeviceLightsUp(_ lock: SimulatedDevice.LockState) async {
        device.lockState = lock
        #expect(await device.push(alert("body")).shown?.presentation == [.lockScreen, .list])
    }

    @Test func zeroTakesTheBadgeAway() async {
        device.badge = 4
        #expect(await device.push(alert("body")).shown?.badge == nil)
        #expect(device.badge == 4)
        #expect(await device.push(alert("body", aps: #""badge":0"#)).shown?.badge == 0)
        #expect(device.badge == 0)
    }

    @Test func aPassiveNotificationGoesQuietlyIntoTheList() async {
        let shown = await device.push(alert("b", aps: #""sound":"default","interruption-level":"passive""#)).shown
        #expect(shown?.presentation == .list)
        #expect(shown?.sound == nil)
        #expect(shown?.interruption == .passive)
    }

    @Test func provisionalNotificationsAreQuietToo() async {
        device.settings.permission = .provisional
        let shown = await device.push(alert("b", aps: #""sound":"default""#)).shown
        #expect(shown?.presentation == .list)
        #expect(shown?.sound == nil)
    }

    @Test func soundsAndBadgesCanBeOff() async {
        device.settings.sounds = false
        device.settings.badges = false
        let shown = await device.push(alert("b", aps: #""sound":"default","badge":4"#)).shown
        #expect(shown?.presentation == [.banner, .list])
        #expect(shown?.sound == nil)
        #expect(shown?.badge == nil)
        #expect(device.badge == 0)
    }

    @Test func aCriticalSoundIsHeardWithApplesPermission() async {
        device.settings.sounds = false
        let push = alert("b", aps: #""sound":{"critical":1,"name":"a.caf","volume":0.5}"#)
        #expect(await device.push(push).shown?.sound == nil)
        device.settings.criticalAlerts = true
        #expect(await device.push(push).shown?.sound == .critical(name: "a.caf", volume: 0.5))
    }

    // MARK: Hidden previews

    @Test(arguments: [
        (SimulatedDevice.Settings.Previews.always, SimulatedDevice.LockState.locked, false),
        (.always, .unlocked, false), (.whenUnlocked, .unlocked, false), (.whenUnlocked, .locked, true),
        (.whenUnlocked, .beforeFirstUnlock, true), (.never, .unlocked, true), (.never, .locked, true),
    ])
    func previewsAreHiddenAsThePersonHasSet(
        _ previews: SimulatedDevice.Settings.Previews, _ lock: SimulatedDevice.LockState, _ isHidden: Bool
    ) async throws {
        device.settings.previews = previews
        device.lockState = lock
        device.app.name = "Chat"
        let shown = try #require(await device.push(alert("secret")).shown)
        #expect(shown.isPreviewHidden == isHidden)
        #expect(shown.title == (isHidden ? "Chat" : "Title"))
        #expect(shown.subtitle == (isHidden ? "" : "Sub"))
        #expect(shown.body == (isHidden ? "Notification" : "secret"))
    }

    @Test func aCategorySaysWhatStaysWhenPreviewsAreHidden() async throws {
        declare(
            UNNotificationCategory(
                identifier: "CHAT", actions: [], intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: "%u new messages", options: [.hiddenPreviewsShowTitle]),
            UNNotificationCategory(
                identifier: "MAIL", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: "Mail",
                options: [.hiddenPreviewsShowSubtitle]))
        device.settings.previews = .never
        let chat = alert("secret", aps: #""category":"CHAT","thread-id":"t""#)
        #expect(await device.push(chat).shown?.body == "1 new messages")
        let second = try #require(await device.push(chat).shown)
        #expect([second.title, second.subtitle, second.body] == ["Title", "", "2 new messages"])
        let mail = try #require(await device.push(alert("secret", aps: #""category":"MAIL""#)).shown)
        #expect([mail.title, mail.subtitle, mail.body] == ["App", "Sub", "Mail"])
        // A different name, because identifiers are case-sensitive.
        #expect(await device.push(alert("secret", aps: #""category":"chat""#)).shown?.body == "Notification")
    }

    @Test func unlockingShowsTheTextInTheList() async {
        device.settings.previews = .whenUnlocked
        device.lockState = .locked
        _ = await device.push(alert("secret", collapseID: "a"))
        #expect(device.shown("a")?.body == "Notification")
        device.lockState = .unlocked
        #expect(device.shown("a")?.body == "secret")
    }

    // MARK: List

    @Test func aCollapseIDReplaces() async {
        _ = await device.push(alert("one", collapseID: "a"))
        _ = await device.push(alert("two", collapseID: "b"))
        _ = await device.push(alert("three", collapseID: "a"))
        #expect(device.list == ["b", "a"])
        #expect(device.shown("a")?.body == "three")
        #expect(device.shown("c") == nil)
    }

    @Test func theAppCanTakeNotificationsAway() async {
        _ = await device.push(alert("one", collapseID: "a"))
        device.inProcess { UNUserNotificationCenter.current().removeAllDeliveredNotifications() }
        #expect(device.list.isEmpty)
    }

    @Test func aDeviceHasACenterOfItsOwn() async {
        let other = SimulatedDevice.changing()
        _ = await device.push(alert("one", aps: #""badge":2"#))
        #expect(other.list.isEmpty)
        #expect(other.badge == 0)
    }

    // MARK: Empty content

    @Test func whoMayFilterShowsNothing() async {
        let device = SimulatedDevice(clock: .simulated(stillClock())) {
            ScriptedExtension { _, deliver in deliver(UNNotificationContent()) }
        }
        let push = alert("placeholder", aps: #""sound":"default","badge":4"#)
        let masked = await device.push(push)
        #expect(masked.source == .original)
        #expect(masked.shown?.body == "placeholder")
        #expect(masked.faults == [.emptyWithoutEntitlement])

        device.app.hasFilteringEntitlement = true
        let filtered = await device.push(push)
        #expect(filtered.source == .nothing)
        #expect(filtered.shown == nil)
        #expect(filtered.faults.isEmpty)
        #expect(device.list.count == 1)
    }
}
