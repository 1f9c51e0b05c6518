import DeviceSimulator
import Foundation
import Testing
import UserNotifications

/// How the system calls the extension, and which delivery it accepts.
@Suite struct RunTests {
    private let clock = stillClock()

    @Test func everyPushHasAnObjectOfItsOwnAwayFromTheMainThread() async {
        let seen = Notebook<ObjectIdentifier>()
        let onMain = Notebook<Bool>()
        let kept = Notebook<Handed<ScriptedExtension>>()
        let device = SimulatedDevice(clock: .simulated(stillClock())) {
            let made = ScriptedExtension { request, deliver in
                onMain.add(Main.isHere)
                deliver(request.content)
            }
            kept.add(Handed(made))
            seen.add(ObjectIdentifier(made))
            return made
        }
        for _ in 0..<3 { await MainActor.run { _ = device.send(alert("a")) } }
        #expect(Set(seen.all).count == 3)
        #expect(onMain.all == [false, false, false])
    }

    @Test func aTestMayWaitWithoutAsync() {
        let outcome = SimulatedDevice.changing { $0.body += "!" }.send(alert("a")).waitUntilDecided()
        #expect(outcome.shown?.body == "a!")
    }

    @Test func severalRunAtOnce() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { [clock] in
            ScriptedExtension { request, deliver in
                clock.sleep(for: 10)
                deliver(request.content)
            }
        }
        let arrivals = (0..<20).map { device.send(alert("\($0)", collapseID: "id\($0)")) }
        #expect(arrivals.allSatisfy { $0.outcome == nil })
        clock.advance(by: 10)
        for (index, arrival) in arrivals.enumerated() {
            let outcome = await arrival.decided()
            #expect(outcome.shown?.body == "\(index)")
            #expect(outcome.milliseconds == 10_000)
            #expect(outcome.faults.isEmpty)
        }
    }

    @Test func expiryComesOnAnotherThreadAndADeliveryThenStillCounts() async {
        let threads = Notebook<ObjectIdentifier>()
        let handlers = Notebook<Handed<ScriptedExtension.Handler>>()
        let device = SimulatedDevice(clock: .simulated(clock)) {
            ScriptedExtension(
                { _, deliver in
                    threads.add(ObjectIdentifier(Thread.current))
                    handlers.add(Handed(deliver))
                },
                expire: {
                    threads.add(ObjectIdentifier(Thread.current))
                    #expect(!Main.isHere)
                    let content = UNMutableNotificationContent()
                    content.body = "best there is"
                    handlers.all.first?.value(content)
                })
        }
        let arrival = device.send(alert("placeholder"))
        clock.advance(by: 29.999)
        #expect(threads.all.count == 1)
        clock.advance(by: 0.001)
        let outcome = await arrival.decided()
        #expect(threads.all.count == 2)
        #expect(outcome.source == .delivered)
        #expect(outcome.shown?.body == "best there is")
        #expect(outcome.isExpired)
        #expect(outcome.milliseconds == 30_000)
        #expect(outcome.faults.isEmpty)
        clock.advance(by: 100)
        #expect(arrival.outcome == outcome)
    }

    @Test func aDeliveryAfterTheEndIsNotShown() async {
        let handlers = Notebook<Handed<ScriptedExtension.Handler>>()
        let device = SimulatedDevice(clock: .simulated(clock)) {
            ScriptedExtension { _, deliver in handlers.add(Handed(deliver)) }
        }
        let arrival = device.send(alert("placeholder", collapseID: "a"))
        clock.advance(by: 31)
        let content = UNMutableNotificationContent()
        content.body = "late"
        handlers.all.first?.value(content)
        let outcome = await arrival.decided()
        #expect(outcome.source == .original)
        #expect(outcome.deliveries == 1)
        #expect(outcome.lateDeliveries == 1)
        #expect(outcome.faults == [.deliveredLate])
        #expect(device.shown("a")?.body == "placeholder")
    }

    @Test func whoDeliversInTimeHearsNothingOfTheEnd() async {
        let expired = Notebook<Int>()
        let device = SimulatedDevice(clock: .simulated(clock)) {
            ScriptedExtension({ request, deliver in deliver(request.content) }, expire: { expired.add(1) })
        }
        let outcome = await device.push(alert("a"))
        clock.advance(by: 60)
        #expect(expired.all.isEmpty)
        #expect(!outcome.isExpired)
        #expect(outcome.milliseconds == 0)
    }

    @Test func whatIsShownIsACopy() async {
        let device = SimulatedDevice(clock: .simulated(stillClock())) {
            ScriptedExtension { request, deliver in
                let content = UNMutableNotificationContent()
                content.body = "first"
                deliver(content)
                content.body = "second"
            }
        }
        let outcome = await device.push(alert("placeholder"))
        #expect(outcome.shown?.body == "first")
        #expect(outcome.deliveries == 1)
        #expect(outcome.faults == [.changedAfterDelivery])
    }

    @Test func aDeliveryMayComeFromATask() async {
        let device = SimulatedDevice(clock: .simulated(clock)) {
            ScriptedExtension { request, deliver in
                let handed = Handed((request, deliver))
                Task {
                    let content = UNMutableNotificationContent()
                    content.body = NSString.localizedUserNotificationString(forKey: "K", arguments: nil)
                    handed.value.1(content)
                }
            }
        }
        device.app.strings = ["K": "from a task"]
        #expect(await device.push(alert("a")).shown?.body == "from a task")
    }

    @Test func aRealClockRunsByItself() async {
        let device = SimulatedDevice(clock: .real) { SilentExtension() }
        device.limits.delivery = 20
        device.limits.expiry = 10
        let outcome = await device.push(alert("placeholder"))
        #expect(outcome.isExpired)
        #expect(outcome.faults == [.neverDelivered])
    }

    @Test func aRealClockDoesNotHoldUpADelivery() async {
        let device = SimulatedDevice(clock: .real) { ScriptedExtension { $1($0.content) } }
        device.limits.delivery = 3_600_000
        let outcome = await device.push(alert("a"))
        #expect(outcome.source == .delivered)
        #expect(!outcome.isExpired)
    }

    @Test func theTraceSaysWhatHappened() async {
        let device = SimulatedDevice(clock: .simulated(clock)) { SilentExtension() }
        let arrival = device.send(alert("placeholder"))
        clock.advance(by: 31)
        let trace = await arrival.decided().trace
        #expect(trace.count == 4)
        #expect(trace.map { String($0.prefix(8)) } == ["0.00 s  ", "30.00 s ", "31.00 s ", "31.00 s "])
        #expect(await device.push(#"{"aps":{"alert":"a"}}"#).description.contains("not-mutable"))
    }
}
