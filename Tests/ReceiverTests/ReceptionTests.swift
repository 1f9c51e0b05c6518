import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import Simulated

/// Pushes that are opened too late, and pushes that are not sealed where clear ones pass.
@Suite struct ReceptionTests {
    /// The time ends before the push is opened; it opens all the same, and nobody sees it. A copy is as new as it was.
    @Test func whatIsOpenedTooLateIsNotRemembered() throws {
        let scene = try Scene()
        let push = Scene.push(try scene.envelope())
        let before = try StoreFiles(in: scene.phone.folder)
        let late = scene.phone.receiver().receive(
            IncomingPush(try ReceivedPush(push)), requestID: "a", at: Scene.now, isAwaited: { false })
        #expect(late.code == "deadline" && late.shown == Scene.fallback)
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == [])
        #expect(try !scene.isSettled)
        let copy = scene.receive(push, request: "b")
        #expect(copy.code == "opened" && copy.shown == Scene.opened)
        #expect(try scene.isSettled)
    }

    @Test func theReceiverAsksOnlyAboutAMessageThatHasOpened() throws {
        let scene = try Scene()
        let receiver = scene.phone.receiver()
        var asked = 0
        func receive(_ bytes: Bytes) throws -> String {
            try receiver.receive(IncomingPush(ReceivedPush(bytes)), requestID: "a", at: Scene.now) {
                asked += 1
                return false
            }.code
        }
        #expect(try receive(Scene.push(value: "7")) == "not-encrypted")
        #expect(try receive(Scene.push(scene.envelope(topic: .other))) == "authentication-failed")
        #expect(asked == 0)
        #expect(try receive(Scene.push(scene.envelope())) == "deadline")
        #expect(asked == 1)
    }

    /// Otherwise a relay would only have to break what is sealed.
    @Test(arguments: ["null", "7", "true", "{}", #"["AQ"]"#, #""""#, #""AQ""#])
    func whatHasEncryptedDataOfAnyKindNeverPasses(_ value: String) throws {
        let scene = try Scene()
        var push = IncomingPush(try ReceivedPush(Scene.push(value: value)))
        push.mayPassInTheClear = true
        let delivery = scene.phone.receiver().receive(push, requestID: nil, at: Scene.now).delivery
        let isText = value.hasPrefix("\"")
        #expect(delivery.code == (isText ? "malformed-envelope" : "not-encrypted"))
        #expect(delivery.shown == (isText ? Scene.fallback : Scene.notEncrypted))
    }
}
