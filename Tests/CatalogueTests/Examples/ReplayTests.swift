import DeviceSimulator
import Testing

@Suite struct ReplayTests {
    @Test func aSecondCopyDoesNotRing() async throws {
        let phone = try TestPhone()
        let device = phone.device()
        let push = try phone.push(#"{"aps":{"alert":"See you at 8","sound":"default"}}"#)
        #expect(await device.push(push).shown?.sound == .standard)
        let copy = await device.push(push)
        #expect(copy.shown?.body == "See you at 8")
        #expect(copy.shown?.sound == nil)
        #expect(copy.shown?.interruption == .passive)
    }
}
