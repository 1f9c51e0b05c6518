import DeviceSimulator
import Testing

@Suite struct ForgedPushTests {
    @Test func aPushThatNobodySealedIsMasked() async throws {
        let outcome = try await TestPhone().device().push(
            #"{"aps":{"mutable-content":1,"alert":{"title":"Your bank","body":"Send me money"}}}"#)
        #expect(outcome.shown?.body == "(Encrypted)")
    }

    @Test func aPushThatWasChangedOnItsWayShowsNoText() async throws {
        let phone = try TestPhone()
        var push = try phone.push(#"{"aps":{"alert":"See you at 8"}}"#)
        let end = push.payload.count - 3
        push.payload[end] = push.payload[end] == 0x41 ? 0x42 : 0x41
        let outcome = await phone.device().push(push)
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.shown?.body == "")
    }
}
