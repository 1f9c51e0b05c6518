import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// A paired account's trust in its server, and the facts that no server can change. [D-44] [D-49]
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
        let (device, first) = (try world.device, try #require(try world.phone.keys.first))
        for day in 0..<3 as Range<UInt64> {
            // Any number of them, of any kind.
            for (hour, refusal) in ([refusal, refusal] + Self.refusals).enumerated() {
                try refuse(refusal, at: .start.plus(days: day, seconds: UInt64(hour) * 3600))
                #expect(try world.phone.keys.count == Int(day) + 2)
            }
        }
        let keys = try world.phone.keys
        #expect(keys.map(\.state) == [.active, .retiring, .retiring, .pending] && keys.first == first)
        let suite = refusal == .suiteDowngrade && CipherSuite.xwing.isSupported ? CipherSuite.xwing : .x25519
        #expect(keys.dropFirst().allSatisfy { $0.publicKey.suite == suite })
        #expect(try world.device == device && world.phone.isPaired && world.phone.ends == [])
        // Whichever of them the provider has, it opens.
        for key in keys { #expect(try world.phone.state.key(key.keyID, at: world.now) != nil) }
        #expect(try world.heal() == 1 && world.device == device)
    }

    /// A clock that was ahead does not stop it for ever.
    @Test func aClockThatWasSetBackMakesAnotherKey() throws {
        try refuse(.keyTaken, at: .start.plus(days: 20))
        try refuse(.keyTaken)
        #expect(try world.phone.keys.count == 3)
    }

    /// Nothing counts as acknowledged, and the daily record goes on. [D-50]
    @Test(arguments: [RegistrationReply.Refusal.unknownDevice, .badRecordSignature])
    func whoIsNotKnownIsToldToPairAgain(_ refusal: RegistrationReply.Refusal) throws {
        let (device, keys) = (try world.device, try world.phone.keys)
        #expect(try world.phone.launch(with: world.provider) == "nothing")
        for day in 0..<3 as Range<UInt64> {
            world.now = .start.plus(days: day)
            let request = try world.record()
            let result = try world.phone.take(world.reply(.refused(refusal), to: request), to: request, at: world.now)
            #expect(result?.notices == ["pair-again"])
            #expect(try world.phone.next(at: world.now).reasons == [.timePassed])
        }
        #expect(try world.device == device && world.phone.keys == keys && world.phone.isPaired)
        #expect(try world.heal() == 1)
    }

    /// Another app's copy has logged out from this id. [D-46]
    @Test func aDeviceThatHasEndedIsToldToPairAgain() throws {
        let (device, keys) = (try world.device, try world.phone.keys)
        let request = try world.record()
        let reply = try world.reply(.refused(.staleRecord), sequence: DeviceEnd.sequence, to: request)
        let result = try world.phone.take(reply, to: request)
        #expect(result?.notices == ["pair-again"])
        #expect(try world.device == device && world.phone.keys == keys)
        #expect(try world.phone.registration.acknowledgedAt == nil)
    }

    /// A user who pairs again without need has one device: a code replaces none, so the phone ends its own. [P-9]
    @Test func aPhoneThatPairsAgainEndsItsOtherDevice() throws {
        let device = try world.device
        #expect(try world.phone.pair(with: world.provider).key == .refused(.userMismatch))
        #expect(try world.phone.ends == [device])
        #expect(try world.phone.pair(with: world.provider).key == .acknowledged)
        try world.phone.launch(with: world.provider)
        #expect(try world.provider.devices.map(\.id) == [world.device] && world.device != device)
        #expect(try world.isGood && world.phone.ends == [])
    }

    /// The server stores nothing of a request that comes again, so a record follows. [P-6]
    @Test func aRecordFollowsAPairing() throws {
        let phone = Installation()
        #expect(try phone.pair(with: world.provider).key == .acknowledged)
        #expect(try phone.isPaired && phone.registration.acknowledgedAt == nil)
        #expect(try phone.next().reasons.contains(.timePassed))
    }

    /// The user gives up in the middle: the server that the account has says that it has to be paired again, and the app's channel
    /// is not used.
    @Test func aPhoneThatDoesNotPairToTheEndStaysWithItsServer() throws {
        try world.phone.pair(with: world.provider)
        #expect(try world.phone.isPaired)
        try world.phone.launch(with: world.provider)
        #expect(world.phone.results.last?.notices == ["pair-again"])
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
        let (asked, signer) = (request.signed.asked, try world.provider.store.signer(named: nil))
        let body: Bytes
        switch doubt {
        case .unsigned: body = reply.json
        case .anotherProvider: body = SignedReply.body(reply, to: asked, by: EnvelopeSigner(ProviderKey()), for: .app)
        case .anotherProvidersCertificate:
            let credential = try ProviderKey().certified(epoch: 7)
            body = SignedReply.body(reply, to: asked, by: try EnvelopeSigner(credential, for: .app), for: .app)
        case .replacedKey: return #expect(try world.forgeAcknowledgement() == nil)
        case .providerKeyItself:
            body = SignedReply.body(reply, to: asked, by: EnvelopeSigner(try world.provider.key), for: .app)
        case .anotherRecord:
            body = SignedReply.body(reply, to: try world.record().signed.asked, by: signer, for: .app)
        case .hello:
            let nonce = RecordNonce().description
            body = SignedReply.body(RegistrationReply(.hello(nonce)), to: Bytes(nonce.utf8), by: signer, for: .app)
        case .anotherApp: body = SignedReply.body(reply, to: asked, by: signer, for: .other)
        case .cut: body = Bytes(SignedReply.body(reply, to: asked, by: signer, for: .app).dropLast())
        }
        #expect(try phone.take(body, to: request) == nil)
        #expect(try phone.keys.last?.state == .pending)
        #expect(try phone.take(SignedReply.body(reply, to: asked, by: signer, for: .app), to: request) != nil)
        #expect(try phone.keys.last?.state == .active)
    }
}
