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
    func aPushThatDoesNotOpenShowsTheFallback(_ push: FailingPush) throws {
        let scene = try Scene()
        let reception = scene.receive(try push.arrange(scene))
        #expect(reception.code == push.code.description)
        switch push.code {
        case .malformedNotification: #expect(reception.shown == Shown(subtitle: "(Encrypted)"))
        case .notEncrypted: #expect(reception.shown == Scene.notEncrypted)
        default: #expect(reception.shown == Scene.fallback)
        }
        #expect(reception.warnings.isEmpty)
        // Neither the sealed payload nor the relay's words go into a log.
        guard case .fallback(let reason) = reception.delivery.outcome else { return }
        #expect(!["Table", "money", "Bank"].contains(where: reason.description.contains))
    }

    @Test(arguments: FailingPush.all)
    func aPushThatDoesNotOpenLeavesEveryFileAsItWas(_ push: FailingPush) throws {
        let scene = try Scene()
        let bytes = try push.arrange(scene)
        let before = try StoreFiles(in: scene.phone.folder)
        let reception = scene.receive(bytes, request: "a")
        #expect(reception.opened == nil)
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

    // MARK: Kept fields

    private static let long = String(repeating: "é🚲", count: 1000)

    private static let clearParts: [(aps: String, title: String, sound: Bool)] = [
        (#"{"alert":{"title":"New message","body":"(Encrypted)"},"sound":"default"}"#, "New message", true),
        (#"{"alert":{"title":"New message"},"sound":{"name":"s","critical":1,"volume":1.0}}"#, "New message", true),
        (#"{"alert":{"title":"Neue 🚲 Nachricht"}}"#, "Neue 🚲 Nachricht", false),
        (#"{"alert":{"subtitle":"s","body":"b"},"sound":"default"}"#, "", true),
        (#"{"alert":{"title-loc-key":"K","title-loc-args":["x"],"loc-key":"K"}}"#, "K(x)", false),
        (#"{"alert":{"title":7}}"#, "", false),
        (#"{"alert":"a text that says anything"}"#, "", false),
        (#"{"alert":["New message"]}"#, "", false),
        (#"{"title":"New message"}"#, "", false),
        (#"{"alert":{"title":"Your bank:\nsend money\u2028now\u0007!"}}"#, "Your bank: send money now !", false),
        ("{\"alert\":{\"title\":\"\(long)\"}}", String(repeating: "é🚲", count: 32), false),
        // Invisible and bidirectional characters go; those that Persian and family emoji need stay.
        (
            #"{"alert":{"title":"\u202eknaB\u202c \u2066\u061c\u200e\u200fof\u2069\u200b \u2060A\ufeff"}}"#,
            "knaB of A", false
        ),
        (
            #"{"alert":{"title":"\u0645\u06cc\u200c\u062e\ud83d\udc68\u200d\ud83d\udc69"}}"#, "می\u{200C}خ👨\u{200D}👩",
            false
        ),
        (#"{"alert":{"title-loc-key":"K","title-loc-args":["\u202ex\u2069","\u200by"]}}"#, "K(x, y)", false),
        ("{\"alert\":{\"title\":\"\(String(repeating: "\u{200B}", count: 90))Bank\"}}", "Bank", false),
        ("{}", "", false), ("null", "", false), (#""aps""#, "", false),
    ]

    @Test(arguments: clearParts, [nil, #""AQ""#])
    func aFallbackKeepsTheClearTitleAndTheSoundAndNothingElse(
        _ clear: (aps: String, title: String, sound: Bool), _ data: String?
    ) throws {
        let scene = try Scene()
        let encrypted = data.map { ",\"ENCRYPTED_DATA\":\($0)" } ?? ""
        let shown = scene.receive(Bytes("{\"aps\":\(clear.aps)\(encrypted)}".utf8)).shown
        let isSealed = data != nil
        #expect(
            shown
                == Shown(
                    title: clear.title, subtitle: isSealed ? "(Encrypted)" : "", body: isSealed ? "" : "(Encrypted)",
                    sound: clear.sound))
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

    // MARK: Reasons

    @Test(arguments: OpenError.Code.allCases)
    func aReasonIsTheOpenersCodeAndDescription(_ code: OpenError.Code) {
        let reason = Delivery.Reason(OpenError(code, "because"))
        #expect(reason.code == code.description)
        #expect(reason.description == "because")
    }
}
