import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// The simulator detects the faults of real extensions.
@Suite struct FaultyExtensionTests {
    private static let push: APNsPush = #"""
        {"aps":{"mutable-content":1,"alert":{"title":"Bank","body":"placeholder"}},"ENCRYPTED_DATA":"c2VjcmV0"}
        """#
    private let clock = stillClock()

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
