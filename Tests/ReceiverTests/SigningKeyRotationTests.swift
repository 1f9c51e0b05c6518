import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore
@testable import Simulated

/// Changes of the provider's signing key, as phones that were on or off live through them.
@Suite struct SigningKeyRotationTests {
    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    private func code(_ push: Bytes, at now: Timestamp) -> String { phone.receive(push, at: now).code }

    // MARK: Following

    /// However long it was off, and whatever it has missed.
    @Test(arguments: [(1, 15), (4, 15), (4, 400)] as [(Int, UInt64)])
    func aPhoneThatMissedRotationsOpensItsNextPush(_ missed: Int, _ days: UInt64) throws {
        var now = Timestamp.start
        for _ in 1...missed {
            now = now.plus(days: days)
            try provider.rotate(at: now)
        }
        let push = try provider.push(at: now)
        let reception = phone.receive(push, request: "a", at: now)
        #expect(reception.shown == DuplicateTests.opened && reception.warnings.isEmpty)
        #expect(reception.opened?.provider == (try provider.key.publicKey))
        #expect(reception.opened?.epoch == (try provider.certificate?.epoch))
        #expect(try phone.certificate == provider.certificate)

        // The same again and the next one change nothing more.
        let files = try StoreFiles(in: phone.folder)
        #expect(phone.receive(push, request: "a", at: now).shown == DuplicateTests.passive)
        #expect(phone.receive(try provider.push(at: now), request: "b", at: now).shown == DuplicateTests.opened)
        #expect(try StoreFiles(in: phone.folder).changes(since: files) == ["extension.db"])
    }

    /// Planned: what the key before has signed opens for 38 days, if the phone has heard, and for ever if it has not.
    @Test(arguments: [false, true], [false, true]) func theKeyBeforeOpensUntilTheGraceEnds(
        _ hasHeard: Bool, _ hasCertificate: Bool
    ) throws {
        if hasCertificate { try provider.rotate(at: .start) }
        let before = try provider.store.signer()
        let rotated = Timestamp.start.plus(days: 1)
        try provider.rotate(at: rotated)
        if hasHeard { #expect(code(try provider.push(at: rotated), at: rotated) == "opened") }
        let end = rotated.plus(days: 38)
        for (now, isOver) in [(end, false), (end.plus(milliseconds: 1), true)] {
            let late = try Sealer(signer: before, topic: .app)
                .seal(Sealer.Message(Provider.payload.utf8), to: phone.newestKey().publicKey, at: now).json
            #expect(code(late, at: now) == (isOver && hasHeard ? "authentication-failed" : "opened"))
        }
    }

    @Test func afterATheftTheKeyBeforeEndsAtOnce() throws {
        try provider.rotate(at: .start)
        let stolen = try provider.push(at: .start)
        #expect(code(try provider.push(at: .start), at: .start) == "opened")
        try provider.rotate(stolen: true, at: .start)
        #expect(code(stolen, at: .start) == "opened", "the phone has not heard")
        #expect(code(try provider.push(at: .start), at: .start) == "opened")
        #expect(code(stolen, at: .start) == "authentication-failed")
    }

    /// A message sent before the end opens for as long as APNs keeps it, and a day more for clocks.
    @Test func aCertificateThatExpiresIsBelievedNoLonger() throws {
        let key = try provider.key
        let end = Timestamp.start.plus(days: 10)
        let signer = try EnvelopeSigner(key.certified(epoch: 1, expiresAt: end), for: .app)
        func push(at now: Timestamp) throws -> Bytes {
            var message = Sealer.Message(Provider.payload.utf8)
            message.timeToLive = .days(30)
            return try Sealer(signer: signer, topic: .app)
                .seal(message, to: phone.newestKey().publicKey, at: now).json
        }
        let last = try push(at: end)
        #expect(code(last, at: end.plus(days: 30)) == "opened")
        #expect(throws: SealError(.invalidTime, "")) { try push(at: end.plus(milliseconds: 1)) }
        #expect(code(last, at: end.plus(days: 32)) == "authentication-failed")
        #expect(code(try push(at: end.subtracting(milliseconds: 1)), at: end) == "opened")
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
    }

    // MARK: Conflict

    /// Two machines have certified, or the provider key was stolen: both open, and the developer is told. [T-3]
    @Test func twoCertificatesOfOneEpochOpenAndAreTold() throws {
        let key = try provider.key
        let both = try [key.certified(epoch: 7), key.certified(epoch: 7)].sorted { $0.certificate < $1.certificate }
        func receive(_ signing: SigningCredential) throws -> NotificationReceiver.Reception {
            let push = try Sealer(signer: EnvelopeSigner(signing, for: .app), topic: .app)
                .seal(Sealer.Message(Provider.payload.utf8), to: phone.newestKey().publicKey, at: .start)
            return phone.receive(push.json, at: .start)
        }
        #expect(try receive(both[0]).warnings == [])
        for (signing, isTold) in [(both[1], true), (both[0], true), (both[1], false)] {
            let reception = try receive(signing)
            #expect(reception.shown == DuplicateTests.opened)
            #expect(reception.warnings.map { $0.prefix { $0 != ":" } } == (isTold ? ["certificate-conflict"] : []))
            #expect(try phone.certificate == both[1].certificate)
        }
        // Until the next launch, which tells the app.
        #expect(try phone.store.state().isContradicted(Phone.account, .app))
    }
}
