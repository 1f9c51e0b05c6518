import DeviceSimulator
import Foundation
import PushcryptReceiver
import Testing

/// A clock that a test advances.
@Suite struct SimulatedClockTests {
    private let clock = SimulatedClock()
    private let calls = Notebook<String>()

    @Test func callsComeInTheOrderOfTheirTimesAndOfTheirAsking() {
        let kept = [(20, "b"), (10, "a"), (20, "c"), (30, "d")].map { (time: UInt64, name: String) in
            clock.schedule(afterMilliseconds: time) { [calls, clock] in calls.add("\(name)\(clock.milliseconds)") }
        }
        clock.advance(by: 0.009)
        #expect(calls.all.isEmpty)
        clock.advance(by: 0.020)
        #expect(calls.all == ["a10", "b20", "c20"])
        #expect(clock.milliseconds == 29)
        clock.advance(by: 0.001)
        #expect(calls.all.last == "d30")
        withExtendedLifetime(kept) {}
    }

    @Test func aCallThatIsCancelledOrGoneIsNotMade() {
        let kept = clock.schedule(afterMilliseconds: 1) { [calls] in calls.add("cancelled") }
        kept.cancel()
        _ = clock.schedule(afterMilliseconds: 1) { [calls] in calls.add("gone") }
        clock.advance(by: 1)
        #expect(calls.all.isEmpty)
    }

    @Test func aCallMayAskForAnother() {
        let kept = Notebook<any ScheduledCall>()
        kept.add(
            clock.schedule(afterMilliseconds: 10) { [calls, clock] in
                kept.add(clock.schedule(afterMilliseconds: 10) { calls.add("second at \(clock.milliseconds)") })
            })
        clock.advance(by: 0.02)
        #expect(calls.all == ["second at 20"])
    }

    @Test func aSleeperWakesBeforeTheNextCall() async {
        let thread = clock.schedule(afterMilliseconds: 0) { [calls, clock] in
            clock.sleep(for: 10)
            calls.add("awake at \(clock.milliseconds)")
        }
        clock.advance(by: 0)
        let later = clock.schedule(afterMilliseconds: 10_001) { [calls] in calls.add("later") }
        clock.advance(by: 11)
        #expect(calls.all == ["awake at 10000", "later"])
        withExtendedLifetime((thread, later)) {}
    }

    @Test func theLongestTimeIsNoTrap() {
        let kept = clock.schedule(afterMilliseconds: .max) { [calls] in calls.add("never") }
        clock.advance(by: 1)
        let again = clock.schedule(afterMilliseconds: .max) { [calls] in calls.add("never") }
        clock.advance(by: 1_000_000)
        #expect(calls.all.isEmpty)
        withExtendedLifetime((kept, again)) {}
    }

    @Test func datesFollow() {
        let clock = SimulatedClock(startingAt: Date(timeIntervalSince1970: 1000))
        clock.advance(by: 1.5)
        #expect(clock.date == Date(timeIntervalSince1970: 1001.5))
    }
}
