import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Simulated

/// A message that comes more than once; `kit/sequences` has what rings.
@Suite struct DuplicateTests {
    static let opened = Shown(title: "Table for two", body: "See you at 8", sound: true)
    static let passive = Shown(title: "Table for two", body: "See you at 8", passive: true)
    static let fallback = Shown(title: "New message", subtitle: "(Encrypted)", sound: true)

    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    @Test func oneNameForTwoAccountsIsTwoMessages() throws {
        let key = try provider.key.publicKey
        try phone.store.edit { state in
            try state.add(to: "ben", at: .start)
            try state.pin(ProviderPin(key), for: "ben")
        }
        try provider.store.addDevice(phone.record(named: "ben"), id: "other", at: .start)
        var options = Sealer.Message([])
        options.name = "order 41"
        for (id, shown) in [(Phone.id, Self.opened), ("other", Self.opened), (Phone.id, Self.passive)] {
            let push = try provider.push(to: id, at: .start, like: options)
            #expect(phone.receive(push, request: UUID().uuidString, at: .start).shown == shown)
        }
        // The account stays when its key changes.
        let pending = try phone.store.edit { try $0.rotate("ben", at: .start) }
        try provider.store.addDevice(
            DeviceRegistration(
                deviceID: Phone.id, publicKey: pending.publicKey, topic: nil, generation: 2, createdAt: .start,
                pinnedProvider: nil), id: "other", at: .start)
        let retry = try provider.push(to: "other", at: .start, like: options)
        #expect(phone.receive(retry, request: "x", at: .start).shown == Self.passive)
    }

    // MARK: Fields

    private static let full = #"""
        {"aps":{"alert":{"title":"T","body":"B"},"badge":3,"sound":{"critical":1,"name":"s"},"category":"CHAT",
        "thread-id":"t","interruption-level":"critical"},"chat":"c41"}
        """#

    /// A relay may send a message again whenever it likes: under another request it shows no badge and offers no action.
    @Test(arguments: ["a", "b"])
    func whatHasRungShowsNoBadgeAndUnderAnotherRequestNoCategory(_ request: String) throws {
        let push = try provider.push(Self.full, at: .start)
        let first = phone.receive(push, request: "a", at: .start).delivery.content
        #expect(first.badge == 3 && first.categoryIdentifier == "CHAT" && first.interruptionLevel == .critical)
        let again = phone.receive(push, request: request, at: .start).delivery.content
        var expected = first
        (expected.badge, expected.sound, expected.interruptionLevel) = (nil, nil, .passive)
        if request == "b" { expected.categoryIdentifier = "" }
        #expect(again == expected)
    }

    // MARK: Taken and handed over

    private struct Taken {
        let push: OpenedPush
        let claim: ReplayClaim

        var delivery: Delivery { push.delivery(after: claim) }

        /// Returns what is shown instead of what was prepared.
        func handOver() -> Delivery? {
            let handover = push.handOver(after: claim, at: .start)
            return handover.isAsPrepared ? nil : handover.delivery
        }
    }

    private func take(_ push: Bytes, _ request: String, _ policy: DuplicatePolicy = .quiet) throws -> Taken {
        let opened = try phone.receiver(duplicates: policy).open(
            IncomingPush(try ReceivedPush(push)), requestID: request, at: .start)
        return Taken(push: opened, claim: opened.take(at: .start))
    }

    /// Two deliveries of one message at the same time: who hands it over first rings.
    @Test(arguments: [("a", true), ("a", false), ("b", true), ("b", false)], DuplicatePolicy.allCases)
    func ofTwoDeliveriesTheOneThatIsHandedOverFirstRings(
        _ second: (request: String, isFirst: Bool), _ policy: DuplicatePolicy
    ) throws {
        let push = try provider.push(Self.full, at: .start)
        let (new, other) = (try take(push, "a", policy), try take(push, second.request, policy))
        for taken in [new, other] { #expect(taken.delivery.content.badge == 3) }
        #expect(new.claim.mayFetch && other.claim.mayFetch == (second.request == "a"))
        let (first, last) = second.isFirst ? (other, new) : (new, other)
        #expect(first.handOver() == nil)
        let instead = try #require(last.handOver())
        guard !second.isFirst, second.request == "b" else {
            #expect(instead.outcome == .opened && instead.content.sound == nil && instead.content.badge == nil)
            #expect(instead.content.categoryIdentifier == "CHAT")
            return
        }
        switch policy {
        case .quiet: #expect(instead.outcome == .opened && instead.content.categoryIdentifier == "")
        case .fallback: #expect(instead.code == "duplicate")
        case .suppress: #expect(instead.outcome == .suppressed)
        }
    }

    @Test func aDeliveryThatEndedBeforeItWasHandedOverDoesNotRing() throws {
        let push = try provider.push(Self.full, at: .start)
        _ = try take(push, "a")
        let (again, copy) = (try take(push, "a"), try take(push, "b"))
        #expect(again.claim.mayFetch && !copy.claim.mayFetch && !again.claim.isRepeated)
        #expect(copy.handOver() == nil, "it rings")
        #expect(copy.delivery.opened?.isDuplicate == true)
        let late = try take(push, "a")
        #expect(!late.claim.mayFetch && late.claim.isRepeated && late.handOver() == nil)
        #expect(Shown(late.delivery.content).passive)
    }

    // MARK: Effects

    /// The guard's floor lies above the message, which therefore counts as seen. What it brings authenticates itself.
    @Test(arguments: DuplicatePolicy.allCases)
    func aDuplicateTakesEffectAndLeavesNoRow(_ policy: DuplicatePolicy) throws {
        let scene = try Scene(floor: Scene.now)
        let push = Scene.push(try scene.envelope())
        let before = try StoreFiles(in: scene.phone.folder)
        let reception = scene.receive(push, request: "a", duplicates: policy)
        switch policy {
        case .quiet: #expect(reception.shown == Self.passive)
        case .fallback: #expect(reception.code == "duplicate" && reception.shown == Scene.fallback)
        case .suppress: #expect(reception.code == "suppressed" && reception.shown == Shown())
        }
        #expect(try StoreFiles(in: scene.phone.folder).changes(since: before) == ["keystore.db-wal"])
        #expect(try scene.isSettled)
    }

    /// The process may die between taking a message and letting it take effect.
    @Test(arguments: ["a", "b"])
    func whatAKilledProcessBeganIsFinishedByTheNextDelivery(_ request: String) throws {
        let scene = try Scene()
        let envelope = try scene.envelope()
        try remember(envelope, in: scene, request: "a")
        #expect(try !scene.isSettled)
        #expect(scene.receive(Scene.push(envelope), request: request).shown == Scene.opened)
        #expect(try scene.isSettled)
    }

    private func remember(_ envelope: Envelope, in scene: Scene, request: String) throws {
        let key = try #require(try scene.phone.store.state().key(envelope.recipientKeyID, at: Scene.now)).key
        let opened = try Opener(topic: .app, deviceKeys: [key.deviceKey()], trust: scene.phone.trust)
            .open(envelope, at: Scene.now)
        let taking = scene.phone.database.replay.take(ReplayMessage(opened, request: request), at: Scene.now)
        #expect(taking.verdict == .new && taking.problem == nil)
    }
}
