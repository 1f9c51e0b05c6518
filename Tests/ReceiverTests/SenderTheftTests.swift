import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// Somebody else has a signing key, or the provider has an old one back.
@Suite struct SenderTheftTests {
    let provider: Provider
    let phone: Phone
    /// The provider's first key, which the thief has too.
    let stolen: ProviderKey
    let thief = ProviderKey()

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
        stolen = try provider.key
    }

    private func push(
        signedBy key: ProviderKey, announcing statements: [RotationStatement] = [], at now: Timestamp = .start
    ) throws -> Bytes {
        var options = Sealer.Options()
        options.announcing = statements
        return try Sealer(sender: key, topic: .app)
            .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: now, options: options).json
    }

    private func statement(_ old: ProviderKey, _ new: ProviderKey, at now: Timestamp = .start) throws -> RotationStatement {
        try RotationStatement(from: old, to: new, at: now)
    }

    /// Rotates, and lets the phone follow.
    private func rotate(at now: Timestamp = .start) throws -> ProviderKey {
        _ = try provider.store.rotateProviderKey(at: now)
        #expect(phone.receive(try provider.push(at: now), at: now).code == "opened")
        return try provider.key
    }

    /// Receives, and expects that no byte of the key store changes.
    private func receiveInVain(_ push: Bytes, at now: Timestamp = .start) throws -> NotificationReceiver.Reception {
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, at: now)
        let changes = try StoreFiles(in: phone.folder).changes(since: before)
        #expect(reception.code == "opened" ? changes == ["replay.db"] : changes == [])
        return reception
    }

    // MARK: Conflict

    @Test func aSecondStatementOfOneKeyIsAConflictAndChangesNothing() throws {
        _ = try rotate()
        let second = try statement(stolen, thief)
        // Signed by the thief's own key: it does not open.
        let byThief = try receiveInVain(push(signedBy: thief, announcing: [second]))
        #expect(byThief.code == OpenError.Code.rotationConflict.description)
        #expect(byThief.shown == DuplicateTests.fallback)
        // Signed by the stolen key inside the overlap, or by the provider's: it opens, and the developer is told.
        for key in [stolen, try provider.key] {
            let reception = try receiveInVain(push(signedBy: key, announcing: [second]))
            #expect(reception.shown == DuplicateTests.opened)
            #expect(reception.warnings.count == 1)
            #expect(reception.warnings.first?.hasPrefix("rotation-conflict: ") == true)
            #expect(reception.opened?.statements == [])
        }
    }

    @Test func aConflictIsTheDevelopersToKnowWithADuplicateToo() throws {
        _ = try rotate()
        let conflict = try push(signedBy: provider.key, announcing: [statement(stolen, thief)])
        for (policy, request) in [(DuplicatePolicy.quiet, "a"), (.quiet, "b"), (.fallback, "c")] {
            let reception = phone.receive(conflict, request: request, duplicates: policy, at: .start)
            #expect(reception.warnings.count == 1)
            #expect((reception.opened == nil) == (policy == .fallback))
        }
    }

    @Test func aConflictIsToldBesideWhatElseIsWrong() throws {
        _ = try rotate()
        let conflict = try push(signedBy: provider.key, announcing: [statement(stolen, thief)])
        let guardOfNoFolder = ReplayFile.open(in: phone.folder.path(of: "gone"), at: .start)
        let reception = phone.receiver(guardOfNoFolder)
            .receive(conflict, requestID: "a", at: .start)
        #expect(reception.shown == DuplicateTests.opened)
        #expect(reception.warnings.map { $0.prefix { $0 != ":" } } == ["rotation-conflict", "replay guard"])
    }

    /// The phone takes whichever statement comes first: what comes second is the sign that something is wrong.
    @Test func theProvidersRotationIsTheConflictWhenTheThiefWasFirst() throws {
        #expect(
            phone.receive(try push(signedBy: thief, announcing: [statement(stolen, thief)]), at: .start).code
                == "opened")
        _ = try provider.store.rotateProviderKey(at: .start)
        let reception = try receiveInVain(provider.push(at: .start))
        #expect(reception.code == OpenError.Code.rotationConflict.description)
    }

    // MARK: Rollback

    @Test func trustNeverGoesBack() throws {
        let second = try rotate()
        // Both of the provider's keys say that the old one takes its place again.
        let back = try statement(second, stolen)
        #expect(try receiveInVain(push(signedBy: second, announcing: [back])).code == "opened")
        let afterOverlap = Timestamp.start.plus(days: 32)
        for statements in [[back], []] {
            let late = try push(signedBy: stolen, announcing: statements, at: afterOverlap)
            #expect(try receiveInVain(late, at: afterOverlap).code == "authentication-failed")
        }
        for replace in [false, true] {
            #expect(throws: KeyStoreError(.senderSuperseded, "")) {
                try phone.store.pinProvider(
                    stolen.publicKey, named: Phone.sender, replace: replace, at: afterOverlap)
            }
            #expect(throws: KeyStoreError(.senderSuperseded, "")) {
                try phone.store.pinProvider(stolen.publicKey, named: "another", replace: replace, at: afterOverlap)
            }
        }
        #expect(try phone.pin == second.publicKey)
    }

    @Test func anOldStatementOnceMoreChangesNothing() throws {
        let first = try provider.store.rotateProviderKey(at: .start).statement
        #expect(phone.receive(try provider.push(at: .start), at: .start).code == "opened")
        let third = try rotate(at: .start.plus(days: 1))
        let now = Timestamp.start.plus(days: 2)
        for statements in [[first], [first, first], [first, first, first, first]] {
            let reception = try receiveInVain(push(signedBy: third, announcing: statements, at: now), at: now)
            #expect(reception.code == "opened" && reception.warnings.isEmpty)
        }
        #expect(try phone.pin == third.publicKey)
    }

    // MARK: After a theft

    /// The thief has rotated to keys of his own before the app reaches the phone.
    @Test(arguments: 0...2)
    func afterTheAppHasReplacedTheKeyNothingOfTheThiefIsBelieved(_ rotations: Int) throws {
        var thiefs = [stolen]
        for _ in 0..<rotations {
            let next = ProviderKey()
            let rotation = try statement(#require(thiefs.last), next)
            #expect(phone.receive(try push(signedBy: next, announcing: [rotation]), at: .start).code == "opened")
            thiefs.append(next)
        }
        let underWay = try push(signedBy: #require(thiefs.last))
        let recovered = ProviderKey()
        try phone.store.pinProvider(recovered.publicKey, named: Phone.sender, replace: true, at: .start)

        #expect(try receiveInVain(underWay).code == "authentication-failed")
        for key in thiefs {
            let next = ProviderKey()
            let statement = try statement(key, next)
            #expect(try receiveInVain(push(signedBy: key)).code == "authentication-failed")
            #expect(try receiveInVain(push(signedBy: key, announcing: [statement])).opened == nil)
            #expect(try receiveInVain(push(signedBy: next, announcing: [statement])).opened == nil)
            #expect(try receiveInVain(push(signedBy: recovered, announcing: [statement])).code == "opened")
        }
        #expect(try receiveInVain(push(signedBy: recovered)).warnings.isEmpty)
        #expect(try phone.pin == recovered.publicKey)
        for record in try phone.store.pinnedProviders() where record.state == .superseded {
            #expect(record.verifiesUntil == nil)
        }
    }

    // MARK: A provider restored from a backup

    @Test func aRestoredProviderThatRotatesAgainSplitsItsPhones() throws {
        let other = try Phone(enrolledWith: provider, as: "other")
        let backup = try Provider()
        let restored = backup.store
        _ = try restored.importProviderKey(stolen, named: "restored", at: .start)
        try restored.setDefaultProviderKey(named: "restored")
        try restored.addDevice(phone.record(), id: Phone.id, at: .start)
        try restored.addDevice(other.record(), id: "other", at: .start)
        let second = try rotate()

        // Going on with the old key is the way that Docs/KeyRotation.md shows: it works until the overlap ends.
        let end = Timestamp.start.plus(days: 31)
        #expect(phone.receive(try backup.push(at: end), at: end).code == "opened")
        let after = end.plus(milliseconds: 1)
        #expect(phone.receive(try backup.push(at: after), at: after).code == "authentication-failed")
        #expect(other.receive(try backup.push(to: "other", at: after), at: after).code == "opened")

        // Rotating again is the way that it forbids.
        _ = try restored.rotateProviderKey(clock: .confirmed, at: after)
        #expect(try receiveInVain(backup.push(at: after), at: after).code == "rotation-conflict")
        #expect(other.receive(try backup.push(to: "other", at: after), at: after).code == "opened")
        #expect(try phone.pin == second.publicKey)
        #expect(try other.pin == backup.key.publicKey)

        // A key that the app hands out brings both together.
        let recovered = try restored.generateProviderKey(named: "recovered", clock: .confirmed, at: after).publicKey
        for (id, device) in [(Phone.id, phone), ("other", other)] {
            try device.store.pinProvider(recovered, named: Phone.sender, replace: true, at: after)
            let push = try backup.push(to: id, signedBy: "recovered", at: after)
            #expect(device.receive(push, at: after).code == "opened")
        }
    }

    @Test func aBackupFromAfterTheRotationGoesOnByItself() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteKeyStore.create(in: folder.path, at: .start)
        _ = try store.importProviderKey(stolen, at: .start)
        try store.addDevice(phone.record(), id: Phone.id, at: .start)
        _ = try store.rotateProviderKey(at: .start)
        let backup = try folder.copy()
        let restored = try SQLiteKeyStore.open(in: backup.path)

        let stored = try restored.providerKey(named: nil)
        let key = stored.key
        #expect(stored.record.generation == 2)
        let announcements = try restored.announcements(for: key.publicKey, to: stolen.publicKey, at: .start)
        #expect(phone.receive(try push(signedBy: key, announcing: announcements), at: .start).code == "opened")
        #expect(try phone.pin == key.publicKey)
    }
}
