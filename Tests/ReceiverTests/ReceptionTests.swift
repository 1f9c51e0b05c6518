import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import Simulated

/// A push on its whole way through a receiver.
@Suite struct ReceptionTests {
    /// The deliveries of a receiver.
    final class Shell {
        private(set) var deliveries: [Delivery] = []

        func run(_ bytes: Bytes, _ receiver: NotificationReceiver, request: String? = nil, mayPass: Bool = false) {
            guard var push = (try? ReceivedPush(bytes)).map(IncomingPush.init) else {
                deliveries.append(receiver.receive(bytes, requestID: request, at: Scene.now).delivery)
                return
            }
            push.mayPassInTheClear = mayPass
            deliveries.append(receiver.receive(push, requestID: request, at: Scene.now).delivery)
        }

        var shown: [Shown] { deliveries.map { Shown($0.content) } }
        var codes: [String] { deliveries.map(\.code) }
    }

    /// An app's policy allows only pushes without the member.
    @Test(arguments: ["7", "null", "true", "{}", "[]"])
    func whatIsNoTextDoesNotPass(_ data: String) throws {
        let scene = try Scene()
        let shell = Shell()
        let push = Bytes(#"{"aps":{"alert":{"title":"New message","body":"b"}},"ENCRYPTED_DATA":\#(data)}"#.utf8)
        shell.run(push, scene.phone.receiver(), mayPass: true)
        #expect(shell.codes == ["not-encrypted"])
        #expect(shell.shown.map(\.body) == ["(Encrypted)"])
    }

    private func run(_ scene: Scene, _ bytes: Bytes, request: String? = nil, duplicates: DuplicatePolicy = .quiet)
        -> Shell
    {
        let shell = Shell()
        shell.run(bytes, scene.phone.receiver(duplicates: duplicates), request: request)
        return shell
    }

    @Test(arguments: FailingPush.all)
    func aHostilePushIsDeliveredOnceAsTheFallback(_ push: FailingPush) throws {
        let scene = try Scene()
        let shell = run(scene, try push.arrange(scene))
        #expect(shell.codes == [push.code.description])
        switch push.code {
        case .malformedNotification: #expect(shell.shown == [Shown(subtitle: "(Encrypted)")])
        case .notEncrypted: #expect(shell.shown == [Scene.notEncrypted])
        default: #expect(shell.shown == [Scene.fallback])
        }
        // Nothing of the relay's is left but the title and the sound that it chose.
        for content in shell.deliveries.map(\.content) {
            var rest = content
            (rest.title, rest.subtitle, rest.body, rest.sound) = ("", "", "", nil)
            #expect(rest == NotificationContent())
        }
    }

    @Test(arguments: DuplicatePolicy.allCases)
    func aGenuinePushIsDeliveredOnceAndItsCopyAsThePolicySays(_ policy: DuplicatePolicy) throws {
        let scene = try Scene()
        let push = Scene.push(try scene.envelope())
        let first = run(scene, push, request: "a", duplicates: policy)
        #expect(first.codes == ["opened"])
        #expect(first.shown == [Scene.opened])
        let copy = run(scene, push, request: "b", duplicates: policy)
        let expected: (code: String, shown: Shown) =
            switch policy {
            case .quiet: ("opened", DuplicateTests.passive)
            case .fallback: ("duplicate", Scene.fallback)
            case .suppress: ("suppressed", Shown())
            }
        #expect(copy.codes == [expected.code])
        #expect(copy.shown == [expected.shown])
    }

    // MARK: Too late

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

        let copy = run(scene, push, request: "b")
        #expect(copy.codes == ["opened"])
        #expect(copy.shown == [Scene.opened])
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

    // MARK: Pushes that nobody sealed

    @Test func aPushInTheClearIsMaskedUnlessItsPolicyLetsItPass() throws {
        let scene = try Scene()
        let receiver = scene.phone.receiver()
        let shell = Shell()
        for mayPass in [false, true] { shell.run(Scene.push(value: nil), receiver, mayPass: mayPass) }
        #expect(shell.codes == ["not-encrypted", "passed"])
        #expect(shell.shown[0] == Scene.notEncrypted)
        let passed = shell.deliveries[1].content
        #expect(passed.title == "Bank" && passed.subtitle == "Send" && passed.body == "money")
        #expect(passed.sound == .named("alarm.caf") && passed.categoryIdentifier == "PAY" && passed.badge == 9)
        #expect(passed.interruptionLevel == .critical && passed.launchImageName == "x")
        #expect(String(decoding: passed.userInfo, as: UTF8.self) == #"{"url":"https://example.com"}"#)
    }

    /// Otherwise a relay would only have to break what is sealed.
    @Test(arguments: ["null", "7", "true", "{}", #"["AQ"]"#, #""""#, #""AQ""#])
    func whatHasEncryptedDataOfAnyKindNeverPasses(_ value: String) throws {
        let scene = try Scene()
        let shell = Shell()
        shell.run(Scene.push(value: value), scene.phone.receiver(), mayPass: true)
        let isText = value.hasPrefix("\"")
        #expect(shell.codes == [isText ? "malformed-envelope" : "not-encrypted"])
        #expect(shell.shown == [isText ? Scene.fallback : Scene.notEncrypted])
    }

    @Test func aSealedPushOpensAlsoWhereClearOnesPass() throws {
        let scene = try Scene()
        let shell = Shell()
        shell.run(Scene.push(try scene.envelope()), scene.phone.receiver(), mayPass: true)
        #expect(shell.codes == ["opened"])
        #expect(shell.shown == [Scene.opened])
    }

    // MARK: Texts

    @Test func theTextsOfTheFallbackMayBeLocalised() throws {
        let scene = try Scene()
        let texts = FallbackTexts(
            couldNotOpen: .localized(key: "COULD_NOT_OPEN", arguments: []),
            notEncrypted: .localized(key: "NOT_ENCRYPTED", arguments: ["x"]))
        var policy = NotificationReceiver.Policy()
        policy.texts = texts
        let receiver = NotificationReceiver(
            store: scene.phone.store, database: scene.phone.database, topic: .app, policy: policy)
        for (push, subtitle, body) in [
            (Scene.push(value: #""AQ""#), texts.couldNotOpen, ""), (Scene.push(value: "7"), "", texts.notEncrypted),
            (Scene.push(value: nil), "", texts.notEncrypted), (Bytes("no JSON".utf8), texts.couldNotOpen, ""),
        ] as [(Bytes, NotificationContent.Text, NotificationContent.Text)] {
            let content = receiver.receive(push, requestID: nil, at: Scene.now).delivery.content
            #expect(content.subtitle == subtitle && content.body == body)
        }
    }

    @Test func theStandardTextsAreThoseOfApplesSample() {
        #expect(FallbackTexts.standard.couldNotOpen == .plain("(Encrypted)"))
        #expect(FallbackTexts.standard.notEncrypted == .plain("(Encrypted)"))
    }
}
