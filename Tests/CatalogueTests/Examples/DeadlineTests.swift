import DeviceSimulator
import Testing

@Suite struct DeadlineTests {
    @Test func keysThatHangEndInTheFallback() async throws {
        let phone = try TestPhone()
        let device = phone.device { [clock = phone.clock, keys = phone.keys] configuration in
            configuration.keys = {
                clock.sleep(for: 60)
                return keys
            }
        }
        let arrival = device.send(try phone.push(#"{"aps":{"alert":"See you at 8"}}"#))
        phone.clock.advance(by: 30)
        let outcome = await arrival.decided()
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.source == .delivered)
        #expect(outcome.milliseconds == 25_000)
        #expect(outcome.deliveries == 1)
    }
}
