import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// What a paired account believes of its server, and what it keeps whatever the server says. [D-44] [D-49]
@Suite struct PairedAccountTests {
    private static let refusals: [RegistrationReply.Refusal] = [
        .generationRollback, .generationTooHigh, .suiteDowngrade, .userMismatch, .keyTaken,
    ]

    private let world: TraceWorld

    init() throws { world = try TraceWorld() }

    /// Registers, and gets this signed refusal.
    private func refuse(_ refusal: RegistrationReply.Refusal, at now: Timestamp = .start) throws {
        world.now = now
        let request = try world.record()
        let result = try world.phone.take(world.reply(.refused(refusal), to: request), to: request, at: now)
        #expect(result?.key == .refused(refusal))
    }

    @Test(arguments: refusals)
    func aRefusalMakesOneOtherKeyADay(_ refusal: RegistrationReply.Refusal) throws {
        let (device, first) = (try world.device, try #require(try world.phone.keys().first))
        for day in 0..<3 as Range<UInt64> {
            // Any number of them, of any kind.
            for (hour, refusal) in ([refusal, refusal] + Self.refusals).enumerated() {
                try refuse(refusal, at: .start.plus(days: day, seconds: UInt64(hour) * 3600))
                #expect(try world.phone.keys().count == Int(day) + 2)
            }
        }
        let keys = try world.phone.keys()
        #expect(keys.map(\.state) == [.active, .retiring, .retiring, .pending] && keys.first == first)
        let suite = refusal == .suiteDowngrade && CipherSuite.xwing.isSupported ? CipherSuite.xwing : .x25519
        #expect(keys.dropFirst().allSatisfy { $0.publicKey.suite == suite })
        #expect(try world.device == device && world.phone.isPaired && world.phone.state.ends == [])
        // Whichever of them the provider has, it opens.
        for key in keys { #expect(try world.phone.store.deviceKey(id: key.keyID, at: world.now) != nil) }
        #expect(try world.heal() == 1 && world.device == device)
    }

    /// A clock that was ahead does not stop it for ever.
    @Test func aClockThatWasSetBackMakesAnotherKey() throws {
        try refuse(.keyTaken, at: .start.plus(days: 20))
        try refuse(.keyTaken)
        #expect(try world.phone.keys().count == 3)
    }

    /// The store fails: the next refusal of the day makes the key.
    @Test func aKeyThatCouldNotBeMadeIsMadeLater() throws {
        let request = try world.record()
        let answer = try world.reply(.refused(.keyTaken), to: request)
        world.phone.store.fail(with: KeyStoreError(.diskFull, ""), onlyWrites: true)
        #expect(throws: KeyStoreError.self) { try world.phone.take(answer, to: request) }
        world.phone.store.fail(with: nil)
        try refuse(.keyTaken)
        #expect(try world.phone.keys().count == 2)
    }

    /// Nothing counts as acknowledged, and the daily record goes on. [D-50]
    @Test(arguments: [RegistrationReply.Refusal.unknownDevice, .badRecordSignature])
    func whoIsNotKnownIsToldToPairAgain(_ refusal: RegistrationReply.Refusal) throws {
        let (device, keys) = (try world.device, try world.phone.keys())
        #expect(try world.phone.launch(with: world.provider) == "nothing")
        for day in 0..<3 as Range<UInt64> {
            world.now = .start.plus(days: day)
            let request = try world.record()
            let result = try world.phone.take(world.reply(.refused(refusal), to: request), to: request, at: world.now)
            #expect(result?.notices == ["pair-again"])
            guard case .plan(let plan) = world.phone.reconcile(at: world.now) else { throw Unexpected() }
            #expect(plan.description == "register-again(time-passed)")
        }
        #expect(try world.device == device && world.phone.keys() == keys && world.phone.isPaired)
        #expect(try world.heal() == 1)
    }

    /// Another app's copy has logged out from this id. [D-46]
    @Test func aDeviceThatHasEndedIsToldToPairAgain() throws {
        let (device, keys) = (try world.device, try world.phone.keys())
        let request = try world.record()
        let reply = try world.reply(.refused(.staleRecord), sequence: DeviceEnd.sequence, to: request)
        let result = try world.phone.take(reply, to: request)
        #expect(result?.notices == ["pair-again"])
        #expect(try world.device == device && world.phone.keys() == keys)
        #expect(try world.phone.state.account("default")?.acknowledged?.at == nil)
    }

    /// A user who pairs again without need has one device: a code replaces none, so the phone ends its own. [P-9]
    @Test func aPhoneThatPairsAgainEndsItsOtherDevice() throws {
        let device = try world.device
        #expect(try world.phone.pair(with: world.provider).key == .refused(.userMismatch))
        #expect(try world.phone.state.ends.map(\.device) == [device])
        #expect(try world.phone.pair(with: world.provider).key == .acknowledged)
        try world.phone.launch(with: world.provider)
        #expect(try world.provider.devices.map(\.id) == [world.device] && world.device != device)
        #expect(try world.isGood && world.phone.state.ends == [])
    }

    // MARK: Whom it believes

    enum Doubt: CaseIterable {
        case unsigned, anotherProvider, anotherProvidersCertificate, replacedKey, providerKeyItself, anotherRecord,
            hello
        case anotherApp, cut
    }

    @Test(arguments: Doubt.allCases) func whatTheProviderHasNotSignedForThisRecordSaysNothing(_ doubt: Doubt) throws {
        let phone = world.phone
        try world.steal()
        try world.provider.rotate(stolen: true, at: .start)
        try world.exchange()
        try world.makeKey()
        let request = try world.record()
        let reply = RegistrationReply(
            .acknowledged(request.record.publicKey), provider: try world.provider.key.publicKey)
        let (bytes, signer) = (request.signed.bytes, try world.provider.store.signer(named: nil))
        let body: Bytes
        switch doubt {
        case .unsigned: body = reply.json
        case .anotherProvider: body = SignedReply.body(reply, to: bytes, by: EnvelopeSigner(ProviderKey()), for: .app)
        case .anotherProvidersCertificate:
            let credential = try ProviderKey().certified(epoch: 7)
            body = SignedReply.body(reply, to: bytes, by: try EnvelopeSigner(credential, for: .app), for: .app)
        case .replacedKey: return #expect(try world.forgeAcknowledgement() == nil)
        case .providerKeyItself:
            body = SignedReply.body(reply, to: bytes, by: EnvelopeSigner(try world.provider.key), for: .app)
        case .anotherRecord:
            body = SignedReply.body(reply, to: try world.record().signed.bytes, by: signer, for: .app)
        case .hello:
            let nonce = RecordNonce().description
            body = SignedReply.body(RegistrationReply(.hello(nonce)), to: Bytes(nonce.utf8), by: signer, for: .app)
        case .anotherApp: body = SignedReply.body(reply, to: bytes, by: signer, for: .other)
        case .cut: body = Bytes(SignedReply.body(reply, to: bytes, by: signer, for: .app).dropLast())
        }
        #expect(try phone.take(body, to: request) == nil)
        #expect(try phone.keys().last?.state == .pending)
        #expect(try phone.take(SignedReply.body(reply, to: bytes, by: signer, for: .app), to: request) != nil)
        #expect(try phone.keys().last?.state == .active)
    }

    /// An acknowledgement of another phone's key, and a reply to a hello, are no reply to a record. [D-41]
    @Test func whatIsAboutSomethingElseChangesNothing() throws {
        let request = try world.record()
        let file = world.phone.file
        for verdict: RegistrationReply.Verdict in [
            .acknowledged(DeviceKey().publicKey), .ended(try world.device), .hello("AAAAAAAAAAAAAAAAAAAAAA"),
        ] {
            #expect(try world.phone.take(world.reply(verdict, to: request), to: request)?.key == .anotherKey)
            #expect(world.phone.file == file)
        }
    }
}

/// The same of accounts that have a session.
@Suite struct SessionRecordTests {
    @Test(arguments: StoreKind.allCases) func aPhoneGoesOnAfterWhatItIsTold(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let (device, file) = (try phone.device(), phone.file)
        for _ in 0..<3 { try phone.take(provider.answer(phone.begin().signed.body), to: phone.begin()) }
        // The state is back as it was, and the clock stands still.
        phone.file = file
        #expect(try phone.exchange(with: provider) == .refused(.staleRecord))
        #expect(try phone.exchange(with: provider) == .acknowledged)
        #expect(try phone.device() == device && provider.devices.map(\.id) == [device])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// A copy of the phone has logged out: its device never comes back, and this is another one. [D-46]
    @Test(arguments: StoreKind.allCases) func aDeviceThatHasEndedIsFollowedByAnother(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let (device, pins) = (try phone.device(), try phone.pins)
        let end = try #require(try phone.enrolment.logOut(phone.saved)?.ends.first)
        #expect(try provider.ends(end))
        phone.circumstances.pushToken = [1]
        #expect(try phone.exchange(with: provider) == .refused(.staleRecord))
        #expect(phone.results.last?.needsPairing == false)
        #expect(try phone.state.ends == [] && phone.keys() == [])
        #expect(try phone.exchange(with: provider) == .acknowledged)
        #expect(try phone.device() != device && phone.pins == pins)
        #expect(try provider.devices.map(\.id) == [phone.device()])
    }
}
