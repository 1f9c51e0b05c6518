import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A provider that recovers its signing key, and devices that follow.
@Suite struct RecoveryStoreTests {
    private static let day: UInt64 = 86_400
    private let recovery = RecoveryKey()

    private func recover(
        _ store: SQLiteKeyStore, at now: Timestamp = start, above serial: UInt32 = 0
    ) throws -> (signed: SignedRecovery, result: SenderKeyRecovery) {
        let request = try store.prepareRecovery(
            topic: .app, by: recovery.publicKey, serialAbove: serial, clock: .confirmed, at: now
        ).request
        let signed = try request.signed(by: recovery)
        return (signed, try store.finishRecovery(signed, clock: .confirmed, at: now))
    }

    // MARK: The device

    @Test(arguments: DeviceStoreKind.allCases)
    func aDeviceFollowsARecovery(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let (old, thief, good) = (ProviderKey(), ProviderKey(), ProviderKey())
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        try store.pinProvider(old.publicKey, named: "provider", topic: .app, at: start)
        try store.pinProvider(old.publicKey, named: "another", topic: .other, at: start)
        _ = try store.acceptStatements([RotationStatement(from: old, to: thief, at: start)], topic: .app, at: start)
        let request = try RecoveryRequest(by: recovery.publicKey, for: .app, to: good, serial: 7, at: start)
        let statement = try request.signed(by: recovery).statement
        #expect(
            try store.acceptStatements([statement], topic: .app, at: start) == [.recovered(to: good.publicKey)])
        let trust = try store.trust(for: .app)
        #expect(trust.pinned == [good.publicKey] && trust.senders[0].lastRecovery?.serial == 7)
        #expect(trust.candidates(for: old.id, at: start).isEmpty && trust.candidates(for: thief.id, at: start).isEmpty)
        #expect(try store.trust(for: .other).pinned.isEmpty, "revoked for one, revoked for all")
        let records = try store.pinnedProviders()
        #expect(records.filter { !$0.isRevoked }.map(\.key) == [good.publicKey])
        #expect(code { try store.pinProvider(thief.publicKey, named: "third", at: start) } == .senderSuperseded)
        // It survives the pin.
        try store.unpinProvider(named: "provider")
        try store.pinProvider(ProviderKey().publicKey, named: "provider", topic: .app, at: start)
        #expect(try store.acceptStatements([statement], topic: .app, at: start) == [.unchanged])
        #expect(try store.recoveryKeys(ofProvider: "provider") == [recovery.publicKey])
    }

    @Test(arguments: DeviceStoreKind.allCases)
    func noKeyIsBoth(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let seed = Bytes(repeating: 9, count: 32)
        let (sender, same) = (try ProviderKey(seed: seed.span), try RecoveryKey(seed: seed.span))
        try store.pinProvider(sender.publicKey, named: "provider", at: start)
        try store.setRecoveryKeys([same.publicKey], ofProvider: "provider")
        #expect(try store.trust(for: .app).isRevoked(sender.publicKey) && store.trust(for: .app).pinned.isEmpty)
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        let bytes = recovery.publicKey.bytes
        let key = try ProviderPublicKey(bytes: bytes.span)
        #expect(code { try store.pinProvider(key, named: "other", at: start) } == .senderSuperseded)
    }

    /// A first reply may have brought a stranger's recovery key, and the stranger the highest serial.
    @Test(arguments: DeviceStoreKind.allCases)
    func otherRecoveryKeysBeginAnew(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let stranger = RecoveryKey()
        try store.setRecoveryKeys([stranger.publicKey], ofProvider: "provider")
        try store.pinProvider(ProviderKey().publicKey, named: "provider", topic: .app, at: start)
        let request = try RecoveryRequest(by: stranger.publicKey, for: .app, to: ProviderKey(), serial: .max, at: start)
        _ = try store.acceptStatements([request.signed(by: stranger).statement], topic: .app, at: start)
        try store.setRecoveryKeys([recovery.publicKey, RecoveryKey().publicKey], ofProvider: "provider")
        let good = ProviderKey()
        let ours = try RecoveryRequest(by: recovery.publicKey, for: .app, to: good, serial: 7, at: start)
            .signed(by: recovery).statement
        _ = try store.acceptStatements([ours], topic: .app, at: start)
        #expect(try store.trust(for: .app).pinned == [good.publicKey])
        // One more key beside it keeps the serial, whatever key is the first.
        try store.setRecoveryKeys([RecoveryKey().publicKey, recovery.publicKey], ofProvider: "provider")
        #expect(try store.acceptStatements([ours], topic: .app, at: start) == [.unchanged])
    }

    /// One of two recovery keys was stolen, and the thief has signed the highest serial; the app's next release has the
    /// other one alone.
    @Test(arguments: DeviceStoreKind.allCases)
    func aStolenRecoveryKeyTakesItsSerialAlong(_ kind: DeviceStoreKind) throws {
        let store = try kind.store()
        let (stolen, good) = (RecoveryKey(), ProviderKey())
        try store.setRecoveryKeys([stolen.publicKey, recovery.publicKey], ofProvider: "provider")
        try store.pinProvider(ProviderKey().publicKey, named: "provider", topic: .app, at: start)
        let thief = ProviderKey()
        let theft = try RecoveryRequest(by: stolen.publicKey, for: .app, to: thief, serial: .max, at: start)
            .signed(by: stolen).statement
        #expect(try store.acceptStatements([theft], topic: .app, at: start) == [.recovered(to: thief.publicKey)])
        let ours = try RecoveryRequest(by: recovery.publicKey, for: .app, to: good, serial: 7, at: start)
            .signed(by: recovery).statement
        #expect(try store.acceptStatements([ours], topic: .app, at: start) == [.unchanged])
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        #expect(try store.acceptStatements([ours], topic: .app, at: start) == [.recovered(to: good.publicKey)])
        // Its own serial stays, also beside another key.
        try store.setRecoveryKeys([RecoveryKey().publicKey, recovery.publicKey], ofProvider: "provider")
        let old = try RecoveryRequest(by: recovery.publicKey, for: .app, to: ProviderKey(), serial: 6, at: start)
            .signed(by: recovery).statement
        #expect(try store.acceptStatements([old], topic: .app, at: start) == [.unchanged])
    }

    /// Somebody who once controlled the channel has named the recovery key as a sender, for which he needs no secret.
    @Test(arguments: DeviceStoreKind.allCases, [true, false])
    func aRecoveryKeyThatWasNamedAsASenderIsTaken(_ kind: DeviceStoreKind, _ isPinned: Bool) throws {
        let store = try kind.store()
        let bytes = recovery.publicKey.bytes
        let named = try ProviderPublicKey(bytes: bytes.span)
        try store.pinProvider(named, named: "provider", topic: .app, at: start)
        if !isPinned {
            try store.pinProvider(ProviderKey().publicKey, named: "provider", topic: .app, replace: true, at: start)
        }
        try store.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        #expect(try store.recoveryKeys(ofProvider: "provider") == [recovery.publicKey])
        #expect(try !store.trust(for: .app).pinned.contains(named) && store.trust(for: .app).isRevoked(named))
    }

    /// A record of a stranger's must not bring recovery keys if its key is refused, or is there already.
    @Test func recoveryKeysComeOnlyWithTheirPin() throws {
        let store = try Home(.memory).store
        let (first, stranger) = (ProviderKey().publicKey, ProviderKey().publicKey)
        let (own, foreign) = (recovery.publicKey, RecoveryKey().publicKey)
        func pin(_ key: ProviderPublicKey, _ recoveryKeys: [RecoveryPublicKey]?, replace: Bool = false) throws {
            _ = try store.pinProvider(
                key, recoveryKeys: recoveryKeys, named: "provider", topic: .app, replace: replace, at: start)
        }
        func pinned() throws -> [RecoveryPublicKey] { try store.recoveryKeys(ofProvider: "provider") }
        try pin(first, nil)
        #expect(code { try pin(stranger, [foreign]) } == .providerAlreadyPinned)
        #expect(try pinned() == [])
        try pin(first, [foreign])
        #expect(try pinned() == [], "the pin was there already")
        let bytes = first.bytes
        let same = try RecoveryPublicKey(bytes: bytes.span)
        #expect(code { try pin(stranger, [same], replace: true) } == .senderSuperseded)
        #expect(try store.trust(for: .app).pinned == [first], "both or neither")

        try pin(stranger, [own], replace: true)
        #expect(try pinned() == [own])
        #expect(code { try pin(first, [foreign], replace: true) } == .senderSuperseded)
        #expect(try pinned() == [own])
        try pin(ProviderKey().publicKey, nil, replace: true)
        #expect(try pinned() == [own], "they outlive the pin")
        try pin(ProviderKey().publicKey, [], replace: true)
        #expect(try pinned() == [])
    }

    // MARK: The provider

    /// Phones that were asleep still trust the key from before, and that is no sign of a theft.
    @Test func theReplacedKeyIsNotForeign() throws {
        let store = try Home(.memory).store
        let old = try store.generateProviderKey(topic: .app, at: start).publicKey
        let new = try recover(store).result.record.publicKey
        let foreign = try store.foreignMemberTest()
        #expect(foreign(old, []) == [] && foreign(new, []) == [] && foreign(ProviderKey().publicKey, []) == [.sender])
        let bytes = old.bytes
        let same = try RecoveryPublicKey(bytes: bytes.span)
        #expect(code { try store.setAnnouncedRecoveryKeys([same], at: start) } == .senderSuperseded)
    }

    @Test(arguments: StoreKind.allCases)
    func aRecoveryReplacesTheKeyAndDestroysTheOld(_ kind: StoreKind) throws {
        let home = try Home(kind)
        let store = home.store
        let old = try store.generateProviderKey(topic: .app, at: start)
        let prepared = try store.prepareRecovery(by: recovery.publicKey, at: start)
        let request = prepared.request
        #expect(prepared.key == old && prepared.replacedRequest == nil)
        #expect(try store.providerKeys() == [old], "nothing has changed yet")
        #expect(request.serial == UInt32(start.milliseconds / 1000))
        #expect(try request.topic == .app)
        let signed = try request.signed(by: recovery)
        var ended: [KeyID] = []
        let result = try store.finishRecovery(signed, at: start) { ended.append($0.keyID) }
        #expect(result.record.publicKey == request.newKey && result.record.generation == 2)
        #expect(result.replaced == old.publicKey && ended == [old.keyID])
        #expect(try store.providerKey(named: nil).key.publicKey == request.newKey)
        #expect(code { try store.finishRecovery(signed, at: start) } == .rotationRefused, "once")
        #expect(try store.announcedRecoveryKeys() == [recovery.publicKey])
        // A device that reports the old key has not followed yet, and is no evidence of anything.
        let isForeign = try store.foreignMemberTest()
        #expect(isForeign(old.publicKey, []).isEmpty && isForeign(ProviderKey().publicKey, []) == [.sender])
        #expect(!store.check().contains { $0.severity == .error })
    }

    @Test func onlyWhatWasPreparedHereIsInstalled() throws {
        let store = try Home(.memory).store
        _ = try store.generateProviderKey(topic: .app, at: start)
        let foreign = try RecoveryRequest(by: recovery.publicKey, for: .app, to: ProviderKey(), serial: 9, at: start)
            .signed(by: recovery)
        #expect(code { try store.finishRecovery(foreign, at: start) } == .rotationRefused)
        // A thief has prepared it, with a serial that uses up all others, and knows the new key.
        let first = try store.prepareRecovery(by: recovery.publicKey, serialAbove: .max - 1, at: start).request
            .signed(by: recovery)
        let second = RecoveryKey()
        let again = try store.prepareRecovery(by: second.publicKey, at: start)
        let request = again.request
        #expect(request.newKey != first.request.newKey && again.replacedRequest == first.request)
        #expect(request.serial == UInt32(start.milliseconds / 1000), "what was only prepared uses up no serial")
        #expect(code { try store.finishRecovery(first, at: start) } == .rotationRefused)
        #expect(try store.finishRecovery(request.signed(by: second), at: start).record.publicKey == request.newKey)
        #expect(
            code { try store.prepareRecovery(topic: .other, by: second.publicKey, at: start) } == .topicMismatch)
    }

    /// (K-10)
    @Test func noKeyOfTheProviderIsBoth() throws {
        let store = try Home(.memory).store
        let seed = Bytes(repeating: 9, count: 32)
        let (sender, same) = (try ProviderKey(seed: seed.span), try RecoveryKey(seed: seed.span))
        _ = try store.importProviderKey(sender, topic: .app, at: start)
        for isCurrent in [true, false] {
            #expect(
                code { try store.setAnnouncedRecoveryKeys([same.publicKey], at: start) } == .senderSuperseded,
                "\(isCurrent)")
            #expect(code { try store.prepareRecovery(by: same.publicKey, at: start) } == .senderSuperseded)
            if isCurrent { _ = try store.rotateProviderKey(at: start + 1) }
        }
        let other = try Home(.memory).store
        _ = try other.generateProviderKey(topic: .app, at: start)
        try other.setAnnouncedRecoveryKeys([same.publicKey], at: start)
        #expect(code { try other.importProviderKey(sender, named: "second", at: start) } == .senderSuperseded)
        // It was one once.
        try other.setAnnouncedRecoveryKeys([recovery.publicKey], at: start)
        #expect(code { try other.importProviderKey(sender, named: "second", at: start) } == .senderSuperseded)
    }

    @Test func anEmptyStoreIsRecovered() throws {
        let store = try Home(.memory).store
        #expect(code { try store.prepareRecovery(by: recovery.publicKey, at: start) } == .topicMismatch)
        let (signed, result) = try recover(store, above: 1_900_000_000)
        #expect(signed.request.serial == 1_900_000_001)
        #expect(result.record.name == "default" && result.record.generation == 1 && result.replaced == nil)
        #expect(result.record.isDefault)
        #expect(try result.record.topic == .app)
    }

    @Test func serialsRise() throws {
        let store = try Home(.memory).store
        let one = try recover(store, at: start + 100).signed.request.serial
        let two = try recover(store, at: start).signed.request.serial
        let three = try recover(store, at: start + 200).signed.request.serial
        #expect(two == one + 1 && three == one + 100)
        #expect(code { try recover(store, above: .max) } == .rotationRefused)
    }

    @Test func aWrongClockPreparesNothing() throws {
        let home = try Home(.disk)
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        #expect(
            code { try home.store.prepareRecovery(by: recovery.publicKey, at: start + 100 * Self.day) }
                == .implausibleClock)
    }

    @Test(arguments: [Timestamp(milliseconds: 0), start + 100 * day, Timestamp(milliseconds: 1 << 53)])
    func aWrongClockFinishesNothing(_ wrong: Timestamp) throws {
        let store = try Home(.disk).store
        let old = try store.generateProviderKey(topic: .app, at: start)
        let signed = try store.prepareRecovery(by: recovery.publicKey, at: start).request.signed(by: recovery)
        var ended = 0
        #expect(code { try store.finishRecovery(signed, at: wrong) { _ in ended += 1 } } == .implausibleClock)
        #expect(try store.providerKeys() == [old] && ended == 0)
        #expect(try store.finishRecovery(signed, at: start).replaced == old.publicKey)
    }

    // MARK: Announcements

    /// A phone that trusts the stolen key and the thief's, until it gets these statements, in one message or many.
    private func phone(
        trusting stolen: ProviderKey, _ thief: ProviderKey, gets statements: [RotationStatement], at now: Timestamp
    ) throws -> ProviderTrust {
        let device = try DeviceStoreKind.memory.store()
        try device.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        try device.pinProvider(stolen.publicKey, named: "provider", topic: .app, at: start)
        let theft = try RotationStatement(from: stolen, to: thief, at: start, acceptFor: .days(4000))
        for statement in [theft] + statements {
            _ = try? device.acceptStatements([statement], topic: .app, at: now)
        }
        return try device.trust(for: .app)
    }

    /// A rotation every 90 days: what is no longer announced takes no room, even if phones would still accept it. The
    /// recovery goes on, though the rotations that lead on from it are accepted no longer: it ends the trust in the thief.
    @Test func rotationsGoOnAfterARecovery() throws {
        let store = try Home(.memory).store
        _ = try store.generateProviderKey(topic: .app, at: start)
        let (stolen, thief) = (try store.providerKey(named: nil).key, ProviderKey())
        // A chain that no recovery begins goes.
        _ = try store.generateProviderKey(named: "other", at: start)
        let stale = try store.rotateProviderKey(named: "other", at: start)
        let (signed, recovered) = try recover(store)
        var now = start
        for number in 1...8 {
            now = now.adding(.days(90))
            let rotation = try store.rotateProviderKey(clock: .synchronised, at: now)
            for pinned in [nil, stolen.publicKey, ProviderKey().publicKey] {
                let statements = try store.announcements(for: rotation.record.publicKey, to: pinned, at: now)
                #expect(statements.first == signed.statement && statements.last == rotation.statement)
                let trust = try phone(trusting: stolen, thief, gets: statements, at: now)
                // Beside the recovery a message has room for three rotations: then the way to the newest key is cut.
                #expect(trust.pinned == [number <= 3 ? rotation.record.publicKey : recovered.record.publicKey])
                #expect(trust.isRevoked(stolen.publicKey) && trust.isRevoked(thief.publicKey), "\(number)")
            }
        }
        #expect(try store.announcements().rows.count == 8)
        #expect(try !store.announcements().rows.map(\.statement).contains(stale.statement))
    }

    @Test func aRecoveryIsAnnouncedUntilTheDeviceReportsItsKey() throws {
        let store = try Home(.memory).store
        let first = try store.generateProviderKey(topic: .app, at: start).publicKey
        let stolen = try store.rotateProviderKey(at: start + 1).record.publicKey
        let (signed, result) = try recover(store, at: start + 2)
        let new = result.record.publicKey
        let years = start + 4000 * Self.day
        for pinned in [nil, first, stolen, ProviderKey().publicKey] {
            for now in [start + 3, years] {
                #expect(try store.announcements(for: new, to: pinned, at: now) == [signed.statement])
            }
        }
        #expect(try store.announcements(for: new, to: new, at: start + 3).isEmpty)

        let next = try store.rotateProviderKey(at: start + 3)
        let both = [signed.statement, next.statement]
        #expect(try store.announcements(for: next.record.publicKey, to: stolen, at: start + 4) == both)
        // Still announced after the announcement of the rotation, as long as phones accept it.
        #expect(try store.announcements(for: next.record.publicKey, to: nil, at: start + 100 * Self.day) == both)
        #expect(try store.announcements(for: next.record.publicKey, to: new, at: start + 4) == [next.statement])
        #expect(try store.announcements(for: next.record.publicKey, to: next.record.publicKey, at: start + 4).isEmpty)
        // A message has room for three more.
        _ = try store.rotateProviderKey(at: start + 5)
        _ = try store.rotateProviderKey(at: start + 6)
        #expect(code { try store.rotateProviderKey(at: start + 7) } == .tooManyAnnouncements)
        let last = try store.rotateProviderKey(force: true, at: start + 7).record.publicKey
        let statements = try store.announcements(for: last, to: nil, at: start + 8)
        #expect(statements.count == 4 && statements.first == signed.statement)
    }

    /// Rotations behind a recovery are announced for a while, the newest three: the text lacks what lies between.
    @Test(arguments: [1, 4])
    func theTextOfAnAnnouncedRecoveryIsRead(rotations: UInt64) throws {
        let store = try Home(.memory).store
        _ = try store.generateProviderKey(topic: .app, at: start)
        let recovery = try recover(store).signed.statement
        var all: [RotationStatement] = []
        for second in 1...rotations {
            all.append(try store.rotateProviderKey(force: second > 3, at: start + second).statement)
        }
        let sender = try store.providerKey(named: nil).key.publicKey
        for (days, announced) in [(0, Array(all.suffix(3))), (401, [])] {
            let now = start + UInt64(days) * Self.day + rotations
            let text = try store.announcements().text(endingAt: sender, at: now)
            let read = try AnnouncedStatements(text: text, endingAt: sender)
            #expect(read.accepted(at: now) == [recovery] + announced)
        }
    }

    /// From the theft to the recovery, as a phone that was asleep sees it.
    @Test func aPhoneThatSawTheThiefFollows() throws {
        let provider = try Home(.memory).store
        let stolen = try provider.generateProviderKey(topic: .app, at: start)
        let thief = ProviderKey()
        let theft = try RotationStatement(from: provider.providerKey(named: nil).key, to: thief, at: start)
        let device = try DeviceStoreKind.memory.store()
        try device.setRecoveryKeys([recovery.publicKey], ofProvider: "provider")
        try device.pinProvider(stolen.publicKey, named: "provider", topic: .app, at: start)
        _ = try device.acceptStatements([theft], topic: .app, at: start)
        let new = try recover(provider).result.record.publicKey
        let next = try provider.rotateProviderKey(at: start + 1).record.publicKey
        let statements = try provider.announcements(for: next, to: thief.publicKey, at: start + 2)
        #expect(
            try device.acceptStatements(statements, topic: .app, at: start + 2)
                == [.recovered(to: new), .rotated(from: new, to: next)])
        #expect(try device.trust(for: .app).pinned == [next])
    }
}
