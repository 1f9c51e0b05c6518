import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// The rotation of a sender's key, as phones that were on or off live through it.
@Suite struct SenderRotationTests {
    let provider: Provider
    let phone: Phone
    let first: ProviderKey

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
        first = try provider.key
    }

    private func rotate(at now: Timestamp) throws -> ProviderPublicKey {
        try provider.store.rotateProviderKey(clock: .confirmed, at: now).record.publicKey
    }

    /// The phone's next launch, or its first with a provider that knows no pin of it.
    private func register(pin: ProviderPublicKey?, at now: Timestamp) throws {
        var record = try phone.record()
        record.pinnedProvider = pin
        try provider.store.addDevice(record, id: Phone.id, replace: true, at: now)
    }

    private func pins() throws -> [ProviderPublicKey] {
        try phone.store.pinnedProviders().filter { $0.state == .pinned }.map(\.key)
    }

    // MARK: Following

    @Test(arguments: 1...4)
    func aPhoneThatMissedRotationsOpensItsNextPush(_ missed: Int) throws {
        try register(pin: nil, at: .start)
        var now = Timestamp.start
        var keys = [first.publicKey]
        for _ in 1...missed {
            now = now.plus(days: 15)
            keys.append(try rotate(at: now))
        }
        let push = try provider.push(at: now)
        let reception = phone.receive(push, request: "a", at: now)
        #expect(reception.shown == DuplicateTests.opened)
        #expect(reception.warnings.isEmpty)
        #expect(reception.opened?.sender == keys.last)
        #expect(reception.opened?.statements.count == missed)

        let senders = try phone.store.pinnedProviders()
        #expect(senders.map(\.key) == keys)
        #expect(senders.map(\.state) == Array(repeating: .superseded, count: missed) + [.pinned])
        #expect(Set(senders.map(\.name)) == [Phone.sender])

        // The same again and the next one change nothing more.
        #expect(phone.receive(push, request: "a", at: now).shown == DuplicateTests.passive)
        #expect(phone.receive(try provider.push(at: now), request: "a", at: now).shown == DuplicateTests.opened)
        #expect(try phone.store.pinnedProviders() == senders)
    }

    /// The announcing has ended long ago; the phone has said which key it knew.
    @Test(arguments: 1...4)
    func aPhoneThatReportedItsPinFollowsForAsLongAsStatementsAreAccepted(_ missed: UInt64) throws {
        for count in 1...missed { _ = try rotate(at: .start.plus(days: 90 * count)) }
        let now = Timestamp.start.plus(days: 90 + 400)
        let push = try provider.push(at: now)
        #expect(phone.receive(push, at: now).code == "opened")
        #expect(try pins() == [provider.key.publicKey])
    }

    @Test func aPhoneThatReportedNothingIsLostAfterTheAnnouncingUntilItRegisters() throws {
        try register(pin: nil, at: .start)
        _ = try rotate(at: .start)
        let now = Timestamp.start.plus(days: 60, milliseconds: 1)
        #expect(phone.receive(try provider.push(at: now), at: now).code == "authentication-failed")
        try register(pin: phone.pin, at: now)
        #expect(phone.receive(try provider.push(at: now), at: now).code == "opened")
        #expect(try pins() == [provider.key.publicKey])
    }

    @Test(arguments: [(400 * 86_400_000, "opened"), (400 * 86_400_000 + 1, "authentication-failed")])
    func aStatementIsAcceptedForFourHundredDays(_ later: UInt64, _ code: String) throws {
        let statement = try provider.store.rotateProviderKey(at: .start).statement
        let now = Timestamp.start.plus(milliseconds: later)
        // The provider's clock is right; it has kept the statement in its messages.
        var options = Sealer.Options()
        options.announcing = [statement]
        let push = try Sealer(sender: provider.key, topic: .app)
            .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: now, options: options)
        #expect(phone.receive(push.json, at: now).code == code)
    }

    @Test(arguments: [(86_400_000, "opened"), (86_400_001, "authentication-failed")])
    func aStatementMayComeFromAClockThatIsADayAhead(_ ahead: UInt64, _ code: String) throws {
        let statement = try provider.store.rotateProviderKey(clock: .confirmed, at: .start.plus(milliseconds: ahead))
            .statement
        var options = Sealer.Options()
        options.announcing = [statement]
        let push = try Sealer(sender: provider.key, topic: .app)
            .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: .start, options: options)
        #expect(phone.receive(push.json, at: .start).code == code)
    }

    @Test func aPhoneThatWasEnrolledInTheMiddlePassesOverWhatWasBefore() throws {
        let second = try rotate(at: .start)
        try phone.store.unpinProvider(named: Phone.sender)
        try phone.store.pinProvider(second, named: Phone.sender, at: .start)
        try register(pin: nil, at: .start)
        let third = try rotate(at: .start.plus(days: 1))
        let now = Timestamp.start.plus(days: 2)
        let reception = phone.receive(try provider.push(at: now), at: now)
        #expect(reception.opened?.statements.count == 1)
        #expect(try phone.store.pinnedProviders().map(\.key) == [second, third])
    }

    /// The notification extension, the app and a second notification at once.
    @Test func processesThatOpenAtTheSameTimeAgree() async throws {
        let scene = try Scene()
        let folder = scene.phone.folder
        let pushes = try (0..<8).map { _ in Scene.push(try scene.envelope()) }
        try await withThrowingTaskGroup(of: NotificationReceiver.Reception.self) { group in
            for (index, push) in pushes.enumerated() {
                group.addTask {
                    try Phone(reopening: folder, at: Scene.now).receive(push, request: "\(index)", at: Scene.now)
                }
            }
            for try await reception in group {
                #expect(reception.shown == Scene.opened)
                #expect(reception.warnings.isEmpty)
            }
        }
        #expect(try scene.isSettled)
        #expect(
            try scene.phone.store.pinnedProviders().map(\.key) == [scene.oldSender, scene.newSender].map(\.publicKey))
    }

    // MARK: The overlap

    /// Counted from the statement, not from when the phone heard of it.
    @Test(arguments: [0, 1, 2_678_400, 5_184_000] as [UInt32], [0, 20] as [UInt64])
    func theOldKeyVerifiesMessagesUntilTheOverlapEnds(_ overlap: UInt32, _ heardAfterDays: UInt64) throws {
        let inFlight = try provider.push(at: .start)
        _ = try provider.store.rotateProviderKey(overlap: .seconds(UInt64(overlap)), at: .start)
        let heard = Timestamp.start.plus(days: heardAfterDays)
        #expect(phone.receive(try provider.push(at: heard), at: heard).code == "opened")

        let end = Timestamp.start.plus(seconds: UInt64(overlap))
        for (now, isOver) in [(end, false), (end.plus(milliseconds: 1), true)] {
            let late = try Sealer(sender: first, topic: .app)
                .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: now)
            #expect(phone.receive(late.json, at: now).code == (isOver ? "authentication-failed" : "opened"))
        }
        // What APNs has kept for as long as it keeps anything.
        let last = Timestamp.start.plus(days: 30)
        #expect(
            phone.receive(inFlight, at: last).code == (end < last ? "authentication-failed" : "opened"))
    }

    @Test func aPhoneThatHasNotHeardBelievesTheOldKeyWithoutAnEnd() throws {
        _ = try rotate(at: .start)
        let now = Timestamp.start.plus(days: 300)
        let late = try Sealer(sender: first, topic: .app)
            .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: now)
        #expect(phone.receive(late.json, at: now).code == "opened")
    }
}
