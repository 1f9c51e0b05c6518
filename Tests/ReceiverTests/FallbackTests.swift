import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import Simulated

/// After any failure the user sees the fallback, and nothing else has happened.
@Suite struct FallbackTests {
    @Test func everyCodeHasAPushHere() {
        let codes = Set(FailingPush.all.map(\.code)).union([.duplicate])
        #expect(codes == Set(OpenError.Code.allCases))
    }

    @Test(arguments: FailingPush.all)
    func aPushThatDoesNotOpenShowsTheFallbackAndLeavesEveryFile(_ push: FailingPush) throws {
        let scene = try Scene()
        let bytes = try push.arrange(scene)
        let before = try StoreFiles(in: scene.phone.folder)
        let reception = scene.receive(bytes, request: "a")
        #expect(reception.code == push.code.description && reception.opened == nil && reception.warnings.isEmpty)
        switch push.code {
        case .malformedNotification: #expect(reception.shown == Shown(subtitle: "(Encrypted)"))
        case .notEncrypted: #expect(reception.shown == Scene.notEncrypted)
        default: #expect(reception.shown == Scene.fallback)
        }
        // Nothing of the relay's is left but the title and the sound that it chose.
        var rest = reception.delivery.content
        (rest.title, rest.subtitle, rest.body, rest.sound) = ("", "", "", nil)
        #expect(rest == NotificationContent())
        // Neither the sealed payload nor the relay's words go into a log.
        if case .fallback(let reason) = reception.delivery.outcome {
            #expect(!["Table", "money", "Bank"].contains(where: reason.description.contains))
        }
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == [])

        // The genuine message afterwards is as new as if nothing had been before it, and takes effect.
        let genuine = scene.receive(Scene.push(try scene.envelope()), request: "b")
        #expect(genuine.code == "opened")
        #expect(genuine.shown == Scene.opened)
        #expect(try scene.isSettled)
    }

    @Test func whatTheFailuresLackIsTheEffectOfAnOpenedMessage() throws {
        let scene = try Scene()
        let before = try StoreFiles(in: scene.phone.folder)
        #expect(try !scene.isSettled)
        #expect(scene.receive(Scene.push(try scene.envelope())).shown == Scene.opened)
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == ["extension.db", "keystore.db-wal"])
        #expect(try scene.isSettled)
    }

    @Test(arguments: [nil, #""AQ""#, "no JSON"])
    func anAppMayChooseAFixedTitle(_ data: String?) throws {
        let texts = FallbackTexts(
            title: .localized(key: "NEW", arguments: []), couldNotOpen: "(Encrypted)", notEncrypted: "(Encrypted)")
        let push = try? ReceivedPush(Scene.push(value: data)).root
        #expect((push == nil) == (data == "no JSON"))
        let fallback = Delivery(
            fallback: Delivery.Reason(.notEncrypted),
            for: try? IncomingPush(ReceivedPush(Scene.push(value: data))), texts: texts)
        #expect(fallback.content.title == .localized(key: "NEW", arguments: []))
    }
}
