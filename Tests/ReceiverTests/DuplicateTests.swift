import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// A message that comes more than once.
@Suite struct DuplicateTests {
    static let opened = Shown(title: "Table for two", body: "See you at 8", sound: true)
    static let silent = Shown(title: "Table for two", body: "See you at 8")
    static let passive = Shown(title: "Table for two", body: "See you at 8", passive: true)
    static let fallback = Shown(title: "New message", subtitle: "(Encrypted)", sound: true)

    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    // MARK: The same request

    @Test(arguments: [(0, true), (59_999, true), (60_000, true), (60_001, false), (86_400_000, false)])
    func theSameRequestShowsTheSameAgainWithSoundForOneMinute(_ later: UInt64, _ hasSound: Bool) throws {
        let push = try provider.push(at: .start)
        for policy in DuplicatePolicy.allCases {
            let first = phone.receive(push, request: "a", duplicates: policy, at: .start)
            #expect(first.shown == Self.opened)
            let again = phone.receive(push, request: "a", duplicates: policy, at: .start.plus(milliseconds: later))
            #expect(again.shown == (hasSound ? Self.opened : Self.passive))
            #expect(again.opened?.payload == first.opened?.payload)
        }
    }

    @Test func theMinuteCountsFromTheFirstTime() throws {
        let push = try provider.push(at: .start)
        for second in [0, 50, 60] as [UInt64] {
            #expect(phone.receive(push, request: "a", at: .start.plus(seconds: second)).shown == Self.opened)
        }
        #expect(phone.receive(push, request: "a", at: .start.plus(seconds: 61)).shown == Self.passive)
    }

    @Test func aSilentMessageStaysSilent() throws {
        let push = try provider.push(#"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}"#, at: .start)
        #expect(phone.receive(push, request: "a", at: .start).shown == Self.silent)
        #expect(phone.receive(push, request: "a", at: .start).shown == Self.silent)
    }

    @Test func withoutARequestTheSameMessageIsTheSameRequest() throws {
        let push = try provider.push(at: .start)
        #expect(phone.receive(push, duplicates: .fallback, at: .start).shown == Self.opened)
        #expect(phone.receive(push, duplicates: .fallback, at: .start.plus(seconds: 61)).shown == Self.passive)
    }

    // MARK: Another request

    @Test(arguments: ["", "A", "a ", "b"])
    func anotherRequestIsQuiet(_ other: String) throws {
        let push = try provider.push(at: .start)
        let first = phone.receive(push, request: "a", at: .start)
        let again = phone.receive(push, request: other, at: .start)
        #expect(again.code == "opened")
        #expect(again.shown == Self.passive)
        #expect(again.opened?.payload == first.opened?.payload)
        // The first request keeps its place.
        #expect(phone.receive(push, request: "a", at: .start).shown == Self.opened)
    }

    @Test func anotherRequestIsTheFallbackUnderAStrictPolicy() throws {
        let push = try provider.push(at: .start)
        #expect(phone.receive(push, request: "a", duplicates: .fallback, at: .start).shown == Self.opened)
        let again = phone.receive(push, request: "b", duplicates: .fallback, at: .start)
        #expect(again.code == OpenError.Code.duplicate.description)
        #expect(again.shown == Self.fallback)
    }

    @Test func aRetryThatIsSealedAgainIsADuplicate() throws {
        var options = Sealer.Options()
        options.messageName = "order 41"
        let first = try provider.push(at: .start, options: options)
        let retry = try provider.push(at: .start.plus(seconds: 5), options: options)
        #expect(first != retry)
        #expect(phone.receive(first, request: "a", at: .start).shown == Self.opened)
        #expect(phone.receive(retry, request: "b", at: .start.plus(seconds: 6)).shown == Self.passive)
        #expect(phone.receive(retry, request: "a", at: .start.plus(seconds: 6)).shown == Self.opened)
    }

    /// A month later, in the last moment in which it opens, and with other messages in between.
    @Test func aMessageIsRememberedForAsLongAsItLives() throws {
        let push = try provider.push(at: .start)
        #expect(phone.receive(push, request: "a", at: .start).shown == Self.opened)
        for days in [1, 10, 29] as [UInt64] {
            let now = Timestamp.start.plus(days: days)
            #expect(phone.receive(try provider.push(at: now), request: "\(days)", at: now).shown == Self.opened)
        }
        let last = Timestamp.start.plus(days: 30)
        #expect(phone.receive(push, request: "b", at: last).shown == Self.passive)
        #expect(phone.receive(push, request: "b", at: last.plus(milliseconds: 1)).code == "expired")
    }

    @Test func twoMessagesOfOneTextAreTwo() throws {
        for request in ["a", "b", "b"] {
            #expect(phone.receive(try provider.push(at: .start), request: request, at: .start).shown == Self.opened)
        }
    }

    @Test func oneNameUnderTwoSendersIsTwoMessages() throws {
        _ = try provider.store.generateSenderKey(named: "second", at: .start)
        try phone.store.trustSender(
            provider.store.senderKey(named: "second").key.publicKey, named: "second", at: .start)
        var options = Sealer.Options()
        options.messageName = "order 41"
        for sender in ["default", "second"] {
            let push = try provider.push(signedBy: sender, at: .start, options: options)
            #expect(phone.receive(push, request: sender, at: .start).shown == Self.opened)
        }
    }

    @Test func aMessageThatDidNotOpenIsNotRemembered() throws {
        let push = try provider.push(at: .start)
        #expect(phone.receive(push, request: "a", topic: .other, at: .start).code == "authentication-failed")
        #expect(phone.receive(push, request: "b", at: .start).shown == Self.opened)
    }

    // MARK: Effects

    /// The guard's floor lies above the message, which therefore counts as seen; nothing that it brings is taken.
    @Test(arguments: DuplicatePolicy.allCases)
    func aDuplicateChangesNothing(_ policy: DuplicatePolicy) throws {
        let scene = try Scene(floor: Scene.now)
        let push = Scene.push(try scene.envelope())
        let before = try StoreFiles(in: scene.phone.folder)
        let reception = scene.receive(push, request: "a", duplicates: policy)
        switch policy {
        case .quiet: #expect(reception.shown == Self.passive)
        case .fallback: #expect(reception.code == "duplicate" && reception.shown == Scene.fallback)
        case .suppress: #expect(reception.code == "suppressed" && reception.shown == Shown())
        }
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == [])
        #expect(try !scene.isSettled)
    }

    /// The process may die between remembering a message and letting it take effect.
    @Test func theSameRequestFinishesWhatAKilledProcessBegan() throws {
        let scene = try Scene()
        let envelope = try scene.envelope()
        try remember(envelope, in: scene, request: "a")
        #expect(try !scene.isSettled)
        #expect(scene.receive(Scene.push(envelope), request: "a").shown == Scene.opened)
        #expect(try scene.isSettled)
    }

    @Test func whatAKilledProcessBeganIsFinishedByTheNextMessageToo() throws {
        let scene = try Scene()
        let envelope = try scene.envelope()
        try remember(envelope, in: scene, request: "a")
        #expect(scene.receive(Scene.push(envelope), request: "b").shown == Self.passive)
        #expect(try !scene.isSettled)
        #expect(scene.receive(Scene.push(try scene.envelope()), request: "c").shown == Scene.opened)
        #expect(try scene.isSettled)
    }

    private func remember(_ envelope: Envelope, in scene: Scene, request: String) throws {
        let key = try #require(try scene.phone.store.deviceKey(id: envelope.recipientKeyID, at: Scene.now)).key
        let opened = try Opener(topic: .app, deviceKeys: [key], trust: scene.phone.store.trust(for: .app))
            .open(envelope, at: Scene.now)
        let judgement = scene.phone.replay.judge(
            sender: opened.sender, messageID: opened.messageID, requestID: request, sentAt: opened.sentAt,
            expiresAt: opened.expiresAt, at: Scene.now)
        #expect(judgement.verdict == .new && judgement.problem == nil)
    }
}
