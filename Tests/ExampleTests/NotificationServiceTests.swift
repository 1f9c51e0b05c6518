import DeviceSimulator
import Testing

@testable import NotificationService

@Suite struct NotificationServiceTests {
    let phone: Phone

    init() throws { phone = try Phone() }

    @Test func aSealedPushIsShownOpened() async throws {
        let push = try phone.push(#"{"aps":{"alert":{"title":"Ann","body":"See you at 8"}}}"#)
        let outcome = await phone.device().push(push)
        #expect(outcome.shown?.title == "Ann")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.faults.isEmpty, "\(outcome)")
    }

    @Test func keysThatHangEndInTheFallbackAndNotInTheOriginal() async throws {
        let clock = SimulatedClock()
        let device = phone.device(clock, keysTake: 60)
        let arrival = device.send(try phone.push(#"{"aps":{"alert":"See you at 8"}}"#))
        clock.advance(by: 30)
        let outcome = await arrival.decided()
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.milliseconds == 25_000)
        #expect(outcome.deliveries == 1)
    }
}
