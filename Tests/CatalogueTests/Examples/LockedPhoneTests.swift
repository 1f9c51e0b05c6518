import DeviceSimulator
import Testing

struct NotUnlocked: Error {}

@Suite struct LockedPhoneTests {
    @Test func whatComesBeforeTheUnlockOpensAfterIt() async throws {
        let phone = try TestPhone()
        let push = try phone.push(#"{"aps":{"alert":"See you at 8"}}"#)
        let locked = phone.device { $0.keys = { throw NotUnlocked() } }
        #expect(await locked.push(push).shown?.subtitle == "(Encrypted)")
        #expect(await phone.device().push(push).shown?.body == "See you at 8")
        #expect(try phone.keys.state().accounts[0].keys.count == 1)
    }
}
