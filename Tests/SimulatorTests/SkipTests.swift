import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// When the service extension runs, and the reasons when it does not.
@Suite struct SkipTests {
    /// Marks its content.
    final class Extension: UNNotificationServiceExtension {
        override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
            content.body += "!"
            contentHandler(content)
        }
    }

    private let device = SimulatedDevice(clock: .simulated(stillClock())) { Extension() }

    @Test(arguments: [
        #"{"aps":{"mutable-content":1,"alert":"a"}}"#,
        #"{"aps":{"mutable-content":1.0,"alert":"a"}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"title":"t"}}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"subtitle":"s"}}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"body":"b"}}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"loc-key":"K"}}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"title-loc-key":"K","title":7}}}"#,
        #"{"aps":{"mutable-content":1,"content-available":1,"alert":"a"}}"#,
    ])
    func itRunsForAnAlertWithTextAndTheNumber1(_ json: String) async {
        let outcome = await device.push(APNsPush(json: json))
        #expect(outcome.skipped == nil)
        #expect(outcome.source == .delivered)
        #expect(outcome.shown?.body.last == "!")
        #expect(outcome.deliveries == 1)
    }

    private static let skipped: [(json: String, reason: SkipReason)] = [
        ("", .notJSON), ("hello", .notJSON), ("[]", .notJSON), (#"{"aps":{}"#, .notJSON),
        (#"{"a":"# + "\"" + String(repeating: "x", count: 4096 - 8) + "\"}", .silent),
        (#"{"a":"# + "\"" + String(repeating: "x", count: 4097 - 8) + "\"}", .payloadTooLarge),
        ("{}", .silent), (#"{"aps":7}"#, .silent), (#"{"aps":{"content-available":1}}"#, .silent),
        (#"{"aps":{"mutable-content":1,"content-available":1}}"#, .silent),
        (#"{"aps":{"mutable-content":1,"alert":7}}"#, .silent),
        (#"{"aps":{"mutable-content":1,"sound":"default","badge":3}}"#, .soundOnly),
        (#"{"aps":{"mutable-content":1,"badge":3}}"#, .badgeOnly),
        (#"{"aps":{"mutable-content":1,"alert":""}}"#, .noAlertText),
        (#"{"aps":{"mutable-content":1,"alert":{}}}"#, .noAlertText),
        (#"{"aps":{"mutable-content":1,"alert":{"title":"","launch-image":"x"}}}"#, .noAlertText),
        (#"{"aps":{"mutable-content":1,"alert":{"title":7}}}"#, .noAlertText),
        (#"{"aps":{"alert":"a"}}"#, .notMutable), (#"{"aps":{"alert":"a","mutable-content":0}}"#, .notMutable),
        (#"{"aps":{"alert":"a","mutable-content":true}}"#, .notMutable),
        (#"{"aps":{"alert":"a","mutable-content":"1"}}"#, .notMutable),
        (#"{"aps":{"alert":"a","Mutable-Content":1}}"#, .notMutable),
        (#"{"mutable-content":1,"aps":{"alert":"a"}}"#, .notMutable),
    ]

    @Test(arguments: skipped)
    func itDoesNotRun(_ push: (json: String, reason: SkipReason)) async {
        let outcome = await device.push(APNsPush(json: push.json))
        #expect(outcome.skipped == push.reason)
        #expect(outcome.deliveries == 0)
        #expect(outcome.faults.isEmpty)
        #expect(outcome.source == (push.reason == .notMutable || outcome.shown != nil ? .original : .nothing))
    }

    @Test func everyReasonIsTriedHere() {
        let settings: [SkipReason] = [.badCollapseID, .notAlertPush, .notPermitted, .alertsOff, .noExtension]
        #expect(Set(Self.skipped.map(\.reason)).union(settings) == Set(SkipReason.allCases))
    }

    private static let alert = #"{"aps":{"mutable-content":1,"alert":"a","sound":"default","badge":3}}"#

    @Test(arguments: ["background", "voip", "liveactivity", "Alert", ""])
    func otherPushTypesGoToTheApp(_ type: String) async {
        let outcome = await device.push(APNsPush(json: Self.alert, type: type))
        #expect(outcome.skipped == .notAlertPush)
        #expect(outcome.source == .nothing)
        #expect(device.badge == 0)
    }

    @Test func aCallMayBeLargerThanAnAlert() async {
        let json = "{\"a\":\"" + String(repeating: "x", count: 5120 - 8) + "\"}"
        #expect(await device.push(APNsPush(json: json, type: "voip")).skipped == .notAlertPush)
        #expect(await device.push(APNsPush(json: json + " ", type: "voip")).skipped == .payloadTooLarge)
    }

    @Test func aCollapseIDHasAtMost64Bytes() async {
        let id = String(repeating: "ä", count: 32)
        #expect(await device.push(APNsPush(json: Self.alert, collapseID: id)).requestIdentifier == id)
        #expect(await device.push(APNsPush(json: Self.alert, collapseID: id + "x")).skipped == .badCollapseID)
        #expect(await device.push(APNsPush(json: Self.alert, collapseID: "")).skipped == .badCollapseID)
    }

    @Test func withAlertsOffOnlySoundAndBadgeAreLeft() async {
        device.settings.alerts = false
        let outcome = await device.push(APNsPush(json: Self.alert))
        #expect(outcome.skipped == .alertsOff)
        #expect(outcome.shown?.presentation == [])
        #expect(outcome.shown?.body == "")
        #expect(outcome.shown?.sound == .standard)
        #expect(device.badge == 3)
        #expect(device.list.isEmpty)
    }

    @Test(arguments: [SimulatedDevice.Settings.Permission.notAsked, .denied])
    func withoutPermissionNothingIsShown(_ permission: SimulatedDevice.Settings.Permission) async {
        device.settings.permission = permission
        let outcome = await device.push(APNsPush(json: Self.alert))
        #expect(outcome.skipped == .notPermitted)
        #expect(outcome.source == .nothing)
        #expect(device.badge == 0)
    }

    @Test func theAppAsksForPermission() async throws {
        device.settings.permission = .notAsked
        #expect(try await device.center.requestAuthorization(options: [.alert, .sound]))
        #expect(device.settings.permission == .allowed)
        #expect(await device.push(APNsPush(json: Self.alert)).skipped == nil)
    }

    @Test func anAppWithoutAnExtensionShowsThePushAsItCame() async {
        let outcome = await SimulatedDevice().push(APNsPush(json: Self.alert))
        #expect(outcome.skipped == .noExtension)
        #expect(outcome.source == .original)
        #expect(outcome.shown?.body == "a")
    }
}
