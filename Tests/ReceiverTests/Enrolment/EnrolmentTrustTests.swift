import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// Whom an account believes first, and that no reply changes it afterwards. [D-42] [D-43]
@Suite struct EnrolmentTrustTests {
    private let provider: Provider
    private let key: ProviderKey
    private let phone = Installation()

    init() throws {
        provider = try Provider()
        key = try provider.key
    }

    private func build(in pins: ProviderPin...) { phone.terms = EnrolmentTerms(topic: .app, trust: .builtIn(pins)) }

    private func certificate(_ epoch: UInt32, floor: UInt32 = 0, by other: ProviderKey? = nil, for topic: Topic = .app)
        throws -> Certificate
    {
        try (other ?? key).certified(epoch: epoch, floor: floor, topic: topic).certificate
    }

    /// Registers, and gets a reply with this certificate, of a provider of this key.
    @discardableResult
    private func hear(_ certificate: Certificate?, of provider: ProviderKey? = nil) throws -> EnrolmentResult {
        let request = try phone.request()
        let reply = RegistrationReply(
            .acknowledged(request.record.publicKey), provider: (provider ?? key).publicKey, certificate: certificate)
        return try phone.take(RegistrationReply(json: reply.json), to: request)
    }

    private var badSignature: Result<ProviderTrust.Change, TrustError> { .failure(TrustError(.badSignature, "")) }

    // MARK: The first reply

    /// Pin and certificate are stored in one step, or not at all.
    @Test func theFirstReplyBringsPinAndCertificateInOneStep() throws {
        let certificate = try provider.rotate(at: .start)
        let request = try phone.request()
        let (answer, before) = (try provider.answer(request.signed.body), try phone.state)
        phone.store.fail(with: KeyStoreError(.diskFull, ""), writesOnly: true)
        #expect(throws: KeyStoreError(.diskFull, "")) { try phone.take(answer, to: request) }
        #expect(try phone.state == before && phone.pins == [])
        phone.store.fail(with: nil)
        let writes = phone.store.writes
        #expect(try phone.take(answer, to: request)?.certificate == .success(.raised))
        #expect(try phone.store.writes == writes + 1 && phone.pins == [key.publicKey])
        #expect(try phone.certificate == certificate && phone.hears(provider))
        #expect(try phone.state.account("default")?.pins.map(\.origin) == [.reply])
    }

    /// A stranger answered first; a release with the provider's key drops him. The same key again is no news.
    @Test func aBuiltInKeyReplacesTheFirstReplys() throws {
        let same = Installation()
        for _ in 0..<2 { try same.launch(with: provider) }
        same.terms = EnrolmentTerms(topic: .app, trust: .builtIn([ProviderPin(key.publicKey)]))
        #expect(try same.launch(with: provider) == "nothing")
        let stranger = try Provider()
        for _ in 0..<2 { try phone.launch(with: stranger) }
        build(in: ProviderPin(key.publicKey))
        #expect(try phone.launch(with: provider) == "register(provider-changed), notice(provider-replaced)")
        #expect(try phone.pins == [key.publicKey] && !phone.hears(stranger))
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// An earlier release again takes nothing back.
    @Test func aReleaseBringsALaterCertificate() throws {
        let certificates = try [certificate(7, floor: 7), certificate(9, floor: 7)]
        for (number, highest) in [(0, 0), (1, 1), (0, 1)] {
            build(in: ProviderPin(key.publicKey, certificate: certificates[number]))
            #expect(try phone.next().notices == [])
            #expect(try phone.certificate == certificates[highest])
        }
    }

    @Test func aLaterReplyDoesNotReplaceThePin() throws {
        try phone.launch(with: provider)
        let stranger = try Provider()
        try stranger.rotate(at: .start)
        phone.facts.pushToken = [1]
        try phone.launch(with: stranger)
        let result = try #require(phone.results.last)
        #expect(result.foreign == [.provider] && result.certificate == badSignature)
        #expect("\(result)" == "acknowledged, bad-certificate-signature, foreign-provider")
        #expect(try phone.pins == [key.publicKey] && phone.certificate == nil)
    }

    @Test func aReplyNeitherReplacesNorReturnsABuiltInKey() throws {
        let builtIn = ProviderKey().publicKey
        build(in: ProviderPin(builtIn))
        try phone.launch(with: provider)
        #expect(phone.results.last?.foreign == [.provider])
        #expect(try phone.pins == [builtIn])
        // Whoever has removed it: the next launch brings it back.
        let request = try phone.request()
        try phone.store.edit { $0.unpin(builtIn) }
        try phone.take(provider.answer(request.signed.body), to: request)
        #expect(try phone.pins == [])
        try phone.launch(with: provider)
        #expect(try phone.pins == [builtIn])
    }

    // MARK: Certificates in replies

    /// A thief has the signing key. The phone gets no push, and a reply, a refusal too, ends what he signs. [D-37]
    @Test(arguments: [false, true]) func aReplyEndsAStolenKey(isRefusal: Bool) throws {
        var provider = try Provider.of("alice")
        try phone.launch(with: provider)
        let stolen = try provider.push(to: phone.device, at: .start)
        let certificate = try provider.rotate(stolen: true, at: .start)
        if isRefusal { provider.user = "bob" }
        phone.facts.pushToken = [1]
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == (isRefusal ? .refused(.userMismatch) : .acknowledged))
        #expect(phone.results.last?.certificate == .success(.raised))
        #expect(try phone.certificate == certificate)
        phone.facts.pushToken = [2]
        try phone.launch(with: provider)
        #expect(phone.results.last?.certificate == .success(.unchanged))
        #expect(try phone.receive(stolen) == (isRefusal ? "unknown-recipient-key" : "authentication-failed"))
        #expect(try phone.hears(provider))
    }

    /// It is ignored and told; the rest of the reply stands. Without a pin nobody is told.
    @Test(arguments: [false, true]) func aCertificateThatFailsIsIgnoredAndTold(isOfAnotherApp: Bool) throws {
        let wrong = isOfAnotherApp ? try certificate(7, for: .other) : try certificate(7, by: ProviderKey())
        let request = try phone.request()
        let reply = RegistrationReply(.acknowledged(request.record.publicKey), certificate: wrong)
        #expect(try phone.take(reply, to: request).certificate == nil)
        for _ in 0..<2 {
            let result = try hear(wrong)
            #expect(result.key == .acknowledged && result.certificate == badSignature)
            #expect(try phone.certificate == nil && phone.pins == [key.publicKey])
        }
    }

    /// Two certificates of one epoch: both open, the higher is kept, and the app is told. [T-3]
    @Test func aContradictionInAReplyIsTold() throws {
        let both = try [certificate(7), certificate(7)].sorted()
        #expect(try hear(both[0]).certificate == .success(.raised))
        for number in [1, 0] {
            let result = try hear(both[number])
            #expect("\(result)" == "acknowledged, certificate-conflict")
            #expect(try phone.certificate == both[1])
        }
    }

    /// Whoever has learned the other: another account, or this one before its log-out. [T-3]
    @Test(arguments: [false, true], [false, true])
    func aContradictionOfWhatWasLearnedBeforeIsTold(isOtherAccount: Bool, isBuiltIn: Bool) throws {
        let both = try [certificate(7), certificate(7)]
        try hear(both[0])
        if isOtherAccount { phone.account = "second" } else { try phone.logOut() }
        if isBuiltIn {
            build(in: ProviderPin(key.publicKey, certificate: both[1]))
            #expect(try phone.next().notices == [.certificateConflict])
        } else {
            #expect(try hear(both[1]).notices == ["certificate-conflict"])
        }
        #expect(try phone.certificate == both.max())
    }

    /// News from a message is told at each launch, until the app has heard it. [T-3]
    @Test func aContradictionInAMessageIsTold() throws {
        try phone.launch(with: provider)
        for _ in 0..<2 {
            let signer = try EnvelopeSigner(key.certified(epoch: 7), for: .app)
            let push = try Sealer(signer: signer, topic: .app)
                .seal(Sealer.Message(Provider.payload.utf8), to: #require(phone.keys.first).publicKey, at: .start)
            #expect(try phone.receive(push.json) == "opened")
        }
        for _ in 0..<2 { #expect(try phone.next().notices == [.certificateConflict]) }
        try phone.store.edit { $0.endContradiction(of: "default", .app) }
        #expect(try phone.next().notices == [])
    }

    // MARK: Built-in keys

    @Test func aBuiltInKeyIsPinnedBeforeAnythingIsSent() throws {
        let certificate = try provider.rotate(at: .start)
        build(in: ProviderPin(key.publicKey, certificate: certificate))
        #expect(try phone.launch(with: provider, .recordLost) == "register(first)")
        #expect(try phone.pins == [key.publicKey] && phone.certificate == certificate)
        #expect(try phone.launch(with: provider) == "register(first)")
        #expect(try provider.devices.map(\.pinnedProvider) == [key.publicKey])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// Two pins for a release, then one again; messages open under these alone. [T-5]
    @Test func aReleaseChangesTheKeyInTwoSteps() throws {
        let next = try Provider()
        let keys = (old: key.publicKey, new: try next.key.publicKey)
        build(in: ProviderPin(keys.old))
        try phone.launch(with: provider)
        let device = try #require(try provider.devices.first)
        try next.store.addDevice(
            DeviceRegistration(publicKey: device.publicKey, topic: .app, createdAt: .start), id: device.id, at: .start)
        #expect(try phone.hears(provider) && !phone.hears(next))

        build(in: ProviderPin(keys.new), ProviderPin(keys.old))
        #expect(try phone.launch(with: provider) == "register(provider-changed)")
        #expect(try phone.hears(provider) && phone.hears(next))
        #expect(try provider.devices.map(\.pinnedProvider) == [keys.new])
        #expect(throws: KeyStoreError(.tooManyPins, "")) {
            try phone.store.edit { try $0.pin(ProviderPin(ProviderKey().publicKey)) }
        }
        build(in: ProviderPin(keys.new))
        #expect(try phone.launch(with: next) == "nothing")
        #expect(try !phone.hears(provider) && phone.hears(next))
    }

    /// A mistake of the release: it registers nothing and pins nothing.
    @Test(arguments: [false, true]) func aBuiltInCertificateOfAnotherKeyIsAnError(isOfAnotherApp: Bool) throws {
        let wrong = isOfAnotherApp ? try certificate(1, for: .other) : try certificate(1, by: ProviderKey())
        build(in: ProviderPin(key.publicKey, certificate: wrong))
        #expect(throws: KeyStoreError(.badCertificateSignature, "")) { try phone.launch(with: provider) }
        #expect(try phone.state == DeviceState() && provider.devices.isEmpty)
    }

    /// Its user pairs an account with the server that it trusts, and with no other. [P-8]
    @Test func anAccountPairsWithItsOwnServer() throws {
        func mayPair(_ key: ProviderPublicKey) throws -> Bool {
            let code = try PairingCode(url: "https://home.example.net/push", provider: key)
            return try phone.state.mayPair("default", with: code, phone.terms)
        }
        let other = ProviderKey().publicKey
        #expect(try mayPair(other))
        try phone.launch(with: provider)
        #expect(try mayPair(key.publicKey) && !mayPair(other))
        build(in: ProviderPin(other))
        #expect(try !mayPair(key.publicKey) && mayPair(other))
    }
}
