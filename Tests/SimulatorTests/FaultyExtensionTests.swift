import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// The simulator detects the faults of real extensions.
@Suite struct FaultyExtensionTests {
    private static let push: APNsPush = #"""
        {"aps":{"mutable-content":1,"alert":{"title":"Bank","body":"placeholder"}},"ENCRYPTED_DATA":"c2VjcmV0"}
        """#
    private static let garbage = APNsPush(
        json: #"""
            {"aps":{"mutable-content":1,"alert":{"title":"Bank","body":"placeholder"}},
            "ENCRYPTED_DATA":"Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw"}
            """#)

    private static func decrypt(_ text: String) -> String? {
        Data(base64Encoded: text).map { String(decoding: $0, as: UTF8.self) }
    }

    private let clock = stillClock()

    @Test func theArticlesExtensionOpensWhatItCan() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { ArticleExtension(decrypt: Self.decrypt) }
        let outcome = await device.push(Self.push)
        #expect(outcome.shown?.body == "secret")
        #expect(outcome.deliveries == 1)
        #expect(outcome.faults.isEmpty)
    }

    @Test func theArticlesExtensionDeliversTwiceWhenDecryptingIsSlow() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { [clock] in
            ArticleExtension { text in
                clock.sleep(for: 30.5)
                return Self.decrypt(text)
            }
        }
        let arrival = device.send(Self.push)
        #expect(arrival.outcome == nil)
        clock.advance(by: 30)
        #expect(arrival.outcome?.shown?.subtitle == "(Encrypted)")
        clock.advance(by: 1)
        let outcome = await arrival.decided()
        #expect(outcome.deliveries == 2)
        // The user's view depends on whether the system has already drawn it.
        #expect(outcome.faults == [.deliveredTwice, .changedAfterDelivery])
    }

    @Test func theArticlesExtensionEndsTheProcessOnItsOwnSampleText() async {
        await #expect(processExitsWith: .failure) {
            let device = SimulatedDevice { ArticleExtension(decrypt: FaultyExtensionTests.decrypt) }
            _ = await device.push(FaultyExtensionTests.garbage)
        }
    }

    @Test func fallingThroughDeliversTwiceAndChangesWhatIsShown() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { FallsThroughExtension() }
        let outcome = await device.push(#"{"aps":{"mutable-content":1,"alert":"Hello"}}"#)
        #expect(outcome.shown?.body == "New message")
        #expect(outcome.deliveries == 2)
        #expect(outcome.faults == [.deliveredTwice, .changedAfterDelivery])
    }

    @Test func aNullInUserInfoShowsThePushAsReceived() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { NullExtension() }
        let outcome = await device.push(Self.push)
        #expect(outcome.shown?.body == "placeholder")
        #expect(outcome.faults == [.userInfoNotPropertyList])
    }

    @Test func twoThreadsDeliverTwice() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { [clock] in TwoThreadsExtension(clock: clock) }
        let arrival = device.send(Self.push)
        clock.advance(by: 31)
        let outcome = await arrival.decided()
        #expect(outcome.milliseconds == 30_000)
        #expect(outcome.faults == [.deliveredTwice])
    }

    @Test func whoNeverDeliversShowsThePlaceholderAfterHalfAMinute() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { SilentExtension() }
        let arrival = device.send(Self.push)
        clock.advance(by: 30.999)
        #expect(arrival.outcome == nil)
        clock.advance(by: 0.001)
        let outcome = await arrival.decided()
        #expect(outcome.source == .original)
        #expect(outcome.shown?.body == "placeholder")
        #expect(outcome.isExpired)
        #expect(outcome.deliveries == 0)
        #expect(outcome.milliseconds == nil)
        #expect(outcome.faults == [.neverDelivered])
    }

    @Test func timePassesByItselfForWhoOnlyPushes() async {
        let clock = SimulatedClock(patience: 0)
        let device = SimulatedDevice(clock: .simulated(clock)) { SilentExtension() }
        #expect(await device.push(Self.push).faults == [.neverDelivered])
        #expect(clock.milliseconds == 31_000)
    }
}
