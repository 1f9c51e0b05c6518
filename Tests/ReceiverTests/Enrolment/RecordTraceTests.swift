import PostQuantum
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// Each rule of signed records and replies that is the phone's, by what happens without it: with it, the phone knows in the end
/// what its provider has, or its user is told to pair again. (`Docs/FormatRecords.md`, D-44 to D-51)
@Suite struct RecordTraceTests {
    private let world: TraceWorld

    init() throws { world = try TraceWorld() }

    /// Its clock does not tell it that there were later records.
    @Test func aRestoredPhoneGoesOnAfterWhatItIsTold() throws {
        try world.makeKey()
        try world.backUp()
        try world.exchange()
        let held = try #require(try world.held)
        try world.restore()
        world.now = Timestamp(milliseconds: 0)
        #expect(try world.exchange()?.key == .refused(.staleRecord))
        #expect(try world.phone.registration.acknowledgedAt == nil)
        world.now = .start
        #expect(try world.heal() == 1 && world.held == held)
    }

    @Test func aForgedUnknownDeviceAndAPNsAreNoEnd() throws {
        try world.steal()
        #expect(try world.forge(.refused(.unknownDevice))?.needsPairing == true)
        try world.removeByAPNs()
        #expect(try world.heal() == 2)
    }

    /// A thief of a signing key cannot use up the sequences. [D-46]
    @Test func aForgedSequenceLeavesRoom() throws {
        try world.steal()
        for _ in 0..<3 {
            let before = try world.phone.registration.sequence
            #expect(try world.forge(.refused(.staleRecord), sequence: DeviceEnd.sequence - 1)?.needsPairing == false)
            #expect(try world.phone.registration.sequence == before + 1 + 1 << 40)
        }
        #expect(try world.heal() == 1)
    }

    @Test func aRecordFromBeforeTheBackupWasRestoredIsLate() throws {
        try world.backUp()
        let (first, second) = (try world.record(), try world.record())
        try world.restore()
        world.now = .start.plus(seconds: 1)
        #expect(try world.exchange()?.key == .acknowledged)
        for late in [second, first] { #expect(try world.refusal(ofLate: late) == .staleRecord) }
        #expect(try world.isGood)
    }

    @Test func aForgedRollbackCostsNeitherIDNorKey() throws {
        let (device, keys) = (try world.device, try world.phone.keys)
        try world.steal()
        #expect(try world.forge(.refused(.generationRollback)) != nil)
        #expect(try world.phone.keys.first == keys.first && world.phone.keys.count == 2)
        #expect(try world.heal() == 1 && world.device == device)
    }

    @Test func aSigningKeyThatWasReplacedIsNotBelieved() throws {
        try world.steal()
        try world.provider.rotate(stolen: true, at: world.now)
        try world.exchange()
        try world.makeKey()
        #expect(try world.forgeAcknowledgement() == nil)
        #expect(try world.forge(.refused(.unknownDevice)) == nil)
        #expect(try world.isGood && world.phone.keys.map(\.state) == [.active, .pending])
        #expect(try world.exchange()?.key == .acknowledged)
        #expect(try world.isGood && world.phone.keys.map(\.state) == [.retiring, .active])
    }

    /// The record that is posted now has the sequence, the key and everything else of the one that was answered then.
    @Test func anOldReplyIsToAnotherRecord() throws {
        world.now = Timestamp(milliseconds: 0)
        try world.backUp()
        let first = try world.record()
        let recorded = try world.answer(first)
        #expect(try world.phone.take(recorded, to: first, at: .start)?.key == .acknowledged)
        try world.restore()
        let second = try world.record()
        #expect(second.record.sequence == first.record.sequence && second.record.nonce != first.record.nonce)
        #expect(try world.phone.take(recorded, to: second, at: .start) == nil)
    }

    @Test func aRestoredPhoneLogsOut() throws {
        try world.backUp()
        world.now = .start.plus(days: 3)
        try world.exchange()
        try world.restore()
        let device = try world.device
        try world.phone.logOut()
        let end = try #require(try world.phone.state.ends.first)
        #expect(end.address == "https://home.example.net/push")
        #expect(try world.provider.ends(end) && world.provider.store.device(id: device) == nil)
    }

    @Test func aPhoneThatAPNsWasWrongAboutComesBack() throws {
        try world.removeByAPNs()
        #expect(try world.exchange()?.key == .refused(.staleRecord))
        #expect(try world.exchange()?.key == .acknowledged)
        #expect(try world.isGood)
    }

    /// After a removal by the operator, the user has to pair again; a record of the same id is told to come later. [D-39] [D-50]
    @Test func aPhoneThatItsOperatorHasRemovedIsPairedAgain() throws {
        let device = try world.device
        try world.removeByOperator()
        for _ in 0..<2 {
            let result = try world.exchange()
            #expect(result?.key == .refused(.unknownDevice) && result?.needsPairing == true)
            #expect(result?.notices == ["pair-again"])
            #expect(try world.phone.registration.acknowledgedAt == nil)
        }
        #expect(try world.phone.pair(with: world.provider).key == .refused(.staleRecord))
        #expect(try world.phone.pair(with: world.provider).key == .acknowledged)
        #expect(try world.exchange()?.key == .acknowledged)
        #expect(try world.isGood && world.device == device)
    }

    @Test func aPhoneThatCameBackAndIsRemovedHearsOfIt() throws {
        try world.removeByAPNs()
        try world.exchange()
        _ = try world.answer(world.record())
        try world.removeByOperator()
        #expect(try world.exchange()?.needsPairing == true)
    }

    /// A copy of the phone has logged out: this id is no more. [D-46]
    @Test func aCopyOfAPhoneThatHasLoggedOutIsPairedAgainAsAnotherDevice() throws {
        try world.backUp()
        let (device, keys) = (try world.device, try world.phone.keys)
        try world.phone.logOut()
        #expect(try world.provider.ends(#require(try world.phone.state.ends.first)))
        try world.restore()
        let result = try world.exchange()
        #expect(result?.key == .refused(.unknownDevice) && result?.needsPairing == true)
        // Nothing is given up before the user has paired again.
        #expect(try world.device == device && world.phone.keys == keys)
        #expect(try world.phone.pair(with: world.provider).key == .refused(.staleRecord))
        #expect(try world.phone.pair(with: world.provider).key == .acknowledged)
        #expect(try world.exchange()?.key == .acknowledged)
        #expect(try world.isGood && world.device != device)
    }
}

/// The same for keys of suite 2, which the provider cannot seal to.
@Suite(.postQuantum) struct Suite2TraceTests {
    /// A thief has acknowledged a key of suite 2. [D-47]
    private func deceived() throws -> TraceWorld {
        let world = try TraceWorld()
        world.lacksSuite2 = true
        try world.steal()
        try world.makeKey(.xwing)
        #expect(try world.forgeAcknowledgement()?.key == .acknowledged)
        #expect(try world.phone.keys.last.map { $0.publicKey.suite == .xwing && $0.state == .active } == true)
        return world
    }

    @Test func aForgedPermissionLeadsBackToSuite1() throws {
        let world = try deceived()
        #expect(try world.exchange()?.key == .refused(.unsupportedSuite))
        #expect(try world.phone.keys.last?.publicKey.suite == .x25519)
        #expect(try world.heal() == 1)
    }

    @Test func aPhoneThatIsRestoredToTheForgedKeyComesBack() throws {
        let world = try deceived()
        try world.backUp()
        try world.exchange()
        try world.exchange()
        #expect(try world.isGood)
        try world.restore()
        world.now = .start.plus(seconds: 1)
        #expect(try world.heal() == 2)
    }
}
