import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// Whom an installation believes first, and that no reply changes it afterwards.
@Suite struct EnrolmentTrustTests {
    // MARK: The first reply

    /// Whatever is written between the request and its end, there is never a pin without its certificate.
    @Test(arguments: StoreKind.allCases) func theFirstReplyBringsPinAndCertificateInOneStep(_ kind: StoreKind) throws {
        let provider = try Provider()
        let certificate = try provider.rotate(at: .start)
        let phone = try Installation(kind)
        var steps: [Bool] = []
        phone.store.observeWrites { store in
            let pins = try? store.trust(for: .app, account: "default").pins
            steps.append(pins?.first?.learned.certificate == certificate)
            #expect(pins?.allSatisfy { $0.learned.certificate != nil } != false)
        }
        try phone.launch(with: provider)
        #expect(steps.contains(true) && steps.first == false)
        #expect(
            phone.results == [
                EnrolmentResult(key: .acknowledged, provider: .pinned, certificate: .success(.raised))
            ])
        #expect(try phone.certificate == certificate)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
    }

    @Test(arguments: StoreKind.allCases) func aReplyThatTheStoreDoesNotTakePinsNothing(_ kind: StoreKind) throws {
        let provider = try Provider()
        let certificate = try provider.rotate(at: .start)
        let phone = try Installation(kind)
        try phone.launch(with: provider, .storeFailsAtReply)
        #expect(try phone.pins == [])
        try phone.launch(with: provider)
        #expect(try phone.pins == [provider.key.publicKey] && phone.certificate == certificate)
    }

    @Test(arguments: StoreKind.allCases) func aLaterReplyDoesNotReplaceThePin(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let first = try provider.key.publicKey
        let stranger = try Provider()
        try stranger.rotate(at: .start)
        phone.circumstances.pushToken = [1]
        try phone.launch(with: stranger)
        let result = try #require(phone.results.last)
        #expect(result.key == .acknowledged)
        #expect(result.provider == .notAccepted(try stranger.key.publicKey))
        #expect(result.foreign == [.provider] && result.certificate == badSignature)
        #expect("\(result)" == "acknowledged, bad-certificate-signature, foreign-provider")
        #expect(try phone.pins == [first] && phone.certificate == nil)
    }

    // MARK: Certificates in replies

    private var badSignature: Result<ProviderTrust.Change, TrustError> { .failure(TrustError(.badSignature, "")) }

    /// A thief has the signing key. The phone gets no push, and a reply ends what he signs.
    @Test(arguments: StoreKind.allCases) func aReplyEndsAStolenKey(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let stolen = try provider.push(to: phone.device(), at: .start)
        let certificate = try provider.rotate(stolen: true, at: .start)
        phone.circumstances.pushToken = [1]
        try phone.launch(with: provider)
        #expect(phone.results.last?.certificate == .success(.raised))
        #expect(try phone.certificate == certificate)
        #expect(try phone.receive(stolen) == "authentication-failed")
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        phone.circumstances.pushToken = [2]
        try phone.launch(with: provider)
        #expect(phone.results.last?.certificate == .success(.unchanged))
    }

    /// A refusal too. [D-37]
    @Test(arguments: StoreKind.allCases) func aRefusalBringsTheCertificate(_ kind: StoreKind) throws {
        var provider = try Provider()
        provider.user = "alice"
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let certificate = try provider.rotate(stolen: true, at: .start)
        provider.user = "bob"
        phone.circumstances.pushToken = [1]
        try phone.launch(with: provider)
        #expect(phone.results.last?.key == .refused(.userMismatch))
        #expect(phone.results.last?.certificate == .success(.raised))
        #expect(try phone.certificate == certificate)
    }

    private func signed(by key: ProviderKey, epoch: UInt32, topic: Topic = .app) throws -> Certificate {
        try key.certified(epoch: epoch, topic: topic).certificate
    }

    enum Wrong: CaseIterable { case anotherKey, anotherApp }

    /// It is ignored and told; the rest of the reply stands. [D-43]
    @Test(arguments: StoreKind.allCases, Wrong.allCases)
    func aCertificateThatFailsIsIgnoredAndTold(_ kind: StoreKind, _ wrong: Wrong) throws {
        let provider = try Provider()
        let certificate =
            switch wrong {
            case .anotherKey: try signed(by: ProviderKey(), epoch: 7)
            case .anotherApp: try signed(by: provider.key, epoch: 7, topic: .other)
            }
        let phone = try Installation(kind)
        for expected in [EnrolmentResult.Provider.pinned, .trusted] {
            let result = try handle(phone, certificate, of: provider.key.publicKey)
            #expect(result.key == .acknowledged && result.provider == expected)
            #expect(result.certificate == badSignature)
            #expect(try phone.certificate == nil)
        }
    }

    /// Two certificates of one epoch: both open, the higher is kept, and the app is told. [T-3]
    @Test(arguments: StoreKind.allCases) func aContradictionIsTold(_ kind: StoreKind) throws {
        let key = ProviderKey()
        let both = try [signed(by: key, epoch: 7), signed(by: key, epoch: 7)].sorted()
        let phone = try Installation(kind)
        #expect(try handle(phone, both[0], of: key.publicKey).certificate == .success(.raised))
        let result = try handle(phone, both[1], of: key.publicKey)
        #expect(result.certificate == .success(.conflict) && "\(result)" == "acknowledged, certificate-conflict")
        #expect(try phone.certificate == both[1])
        #expect(try handle(phone, both[0], of: key.publicKey).certificate == .success(.conflict))
        #expect(try phone.certificate == both[1])
    }

    /// A log-out ends the pin, and not what was learned: an old certificate is not believed when the account comes back.
    @Test(arguments: StoreKind.allCases) func whatWasLearnedOutlivesALogOut(_ kind: StoreKind) throws {
        let key = ProviderKey()
        let (old, new) = (try signed(by: key, epoch: 7), try key.certified(epoch: 9, floor: 9).certificate)
        let phone = try Installation(kind)
        _ = try handle(phone, new, of: key.publicKey)
        try phone.logOut()
        #expect(try phone.pins == [])
        #expect(try handle(phone, old, of: key.publicKey).provider == .pinned)
        #expect(try phone.certificate == new)
    }

    /// Registers, and gets a reply with this certificate.
    private func handle(
        _ phone: Installation, _ certificate: Certificate, of key: ProviderPublicKey
    ) throws -> EnrolmentResult {
        phone.circumstances.pushToken = Bytes((0..<8).map { _ in UInt8.random(in: 0...255) })
        var work = try begin(phone)
        let request = try #require(work.request)
        let reply = RegistrationReply(
            .acknowledged(request.record.publicKey), provider: key, certificate: certificate)
        let result = try phone.enrolment.handle(
            RegistrationReply(json: reply.json), to: request, state: &work.state, at: .start)
        phone.file = work.state.json
        return result
    }

    // MARK: Replies

    enum Late: CaseIterable { case unknownKey, retiringKey, replyToAnotherDevice }

    /// It confirms no key, pins no provider, and leaves the state as it is.
    @Test(arguments: StoreKind.allCases, Late.allCases)
    func aReplyAboutAnotherKeyChangesNothing(_ kind: StoreKind, _ wrong: Late) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let old = try #require(try begin(phone).request)
        try phone.launch(with: provider)
        try phone.store.unpinProvider(provider.key.publicKey, for: "default")
        _ = try phone.store.rotateDeviceKey(named: "default", at: .start)
        let work = try begin(phone)
        var request = try #require(work.request)
        #expect(request.record.generation == 2)
        let acknowledged: DevicePublicKey
        switch wrong {
        case .unknownKey: acknowledged = DeviceKey().publicKey
        case .retiringKey: acknowledged = old.record.publicKey
        case .replyToAnotherDevice:
            // The key is that of the request: only its device is not the one that is enrolled now.
            let other = try Installation(kind)
            request = try #require(try begin(other).request)
            acknowledged = request.record.publicKey
        }
        var state = work.state
        let result = try phone.enrolment.handle(
            RegistrationReply(
                .acknowledged(acknowledged), provider: provider.key.publicKey, certificate: provider.rotate(at: .start)),
            to: request, state: &state, at: .start)
        #expect(result == EnrolmentResult(key: .anotherKey))
        #expect(state.accounts == work.state.accounts)
        #expect(try phone.keys().map(\.state) == [.active, .pending])
        #expect(try phone.pins == [])
    }

    /// An operator fixes that; nothing on the phone can.
    @Test(arguments: StoreKind.allCases) func aRefusalForAnotherReasonChangesNothing(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        let work = try begin(phone)
        let request = try #require(work.request)
        let refusals: [RegistrationReply.Refusal?] = [.topicMismatch, .init("over-quota")]
        for refusal in refusals.compactMap({ $0 }) {
            var state = work.state
            let result = try phone.enrolment.handle(
                RegistrationReply(.refused(refusal), provider: ProviderKey().publicKey), to: request, state: &state,
                at: .start)
            #expect(result == EnrolmentResult(key: .refused(refusal)))
            #expect(state == work.state)
        }
        #expect(try phone.pins == [])
    }

    private func begin(_ phone: Installation) throws -> EnrolmentWork {
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        let work = try phone.enrolment.begin(plan, at: .start)
        phone.file = work.state.json
        return work
    }
}
